"""Runs before the first cell in the browser lab: what cannot run there says so in a sentence."""


def start():
    from IPython import get_ipython

    def say(shell, kind, error, trace, tb_offset=None):
        print(f"{kind.__name__}: {error}")
        print("Not in a browser, if this cell needs a framework, a process or what one has made.")
        print("Go on; the site shows what comes out.")

    get_ipython().set_custom_exc((Exception,), say)


start()
del start  # what stands here is in the learner's own names
