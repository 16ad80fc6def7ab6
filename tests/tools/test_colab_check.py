"""What an author relies on when Colab's packages move on."""

import colab_check as check
import pytest


def test_what_changed_is_said_of_the_packages_that_the_lessons_use(tmp_path):
    path = tmp_path / "freeze.txt"
    path.write_text(
        "Jinja2==3.1.6\nscikit_learn==1.7.0\nnumpy==3.0.1\njax==0.8.0\n# one\n"
        "torch==9.0\n-e git+https://example.org/it\ntensorflow @ https://example.org/a.whl\n"
    )
    old = {"jinja2": "3.1.6", "scikit-learn": "1.6.1", "numpy": "2.1.3", "jax": "0.7.2"}
    old |= {"keras": "3.13.2", "torch": "2.8.0", "tensorflow": "2.20.0"}
    assert check.compare(old, check.read(path), {*old} - {"torch"}) == [
        "jax 0.7.2 -> 0.8.0, a new major version",
        "keras 3.13.2 -> gone",
        "numpy 2.1.3 -> 3.0.1, a new major version",
        "scikit-learn 1.6.1 -> 1.7.0",
        "tensorflow 2.20.0 -> https://example.org/a.whl, a new major version",
    ]


@pytest.mark.parametrize("words", [[], ["gone.txt"]])
def test_without_a_list_it_says_how_to_get_one(words, capsys):
    with pytest.raises(SystemExit) as left:
        check.main(words)
    assert left.value.code == 2 and "pip freeze" in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.timeout(1800)  # it makes a small replica
def test_a_lesson_that_needs_what_is_gone_is_named(tmp_path, required, capsys):
    path, stored = tmp_path / "gone.txt", check.replica.CPU.constraints.read_text("utf-8")
    gone = ("keras==", "jax==", "tensorflow==", "scikit-learn==")
    path.write_text("\n".join(row for row in stored.split() if not row.startswith(gone)))
    try:
        check.replica.find_python()
    except check.replica.NoReplica as reason:
        required(str(reason))
    assert check.main([str(path), "--lessons", "00 03"]) == 1
    said = capsys.readouterr().out
    assert "keras 3.13.2 -> gone\n" in said and "00_start_here: ran\n" in said
    assert "03_time_a_keras_model: failed in code cell" in said
