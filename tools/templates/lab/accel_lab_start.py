"""Runs before the first cell in the browser lab: what cannot run there says so in a sentence."""

from IPython import get_ipython


def _in_a_sentence(shell, kind, error, trace, tb_offset=None, known=[]):
    if isinstance(error, NameError) and known:
        missing = f"what an earlier cell would have made with {known[0]}"
    elif isinstance(error, ImportError) and error.name:
        known.append(error.name.partition(".")[0])
        missing = known[-1]
    elif "no framework" in str(error) or "does not support processes" in str(error):
        known.append("a framework such as TensorFlow")
        missing = known[-1]
    else:
        shell.showtraceback((kind, error, trace), tb_offset=tb_offset)
        return
    print(f"Not in a browser: this cell needs {missing}, which isn't here. Go on with the next one;")
    print("the lesson's page on the site shows what comes out.")


get_ipython().set_custom_exc((Exception,), _in_a_sentence)
del _in_a_sentence, get_ipython
