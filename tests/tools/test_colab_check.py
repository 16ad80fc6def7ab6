"""What an author relies on when Colab's packages move on."""

import colab_check as check
import pytest


def test_what_changed_is_said_of_the_packages_that_the_lessons_use(tmp_path):
    (path := tmp_path / "freeze.txt").write_text("Jax==0.8.0\nnum_py==2.2.0\ntorch==9.0\n-e git+it")
    old = {"jax": "0.7.2", "keras": "3.13.2", "num-py": "2.1.3", "torch": "2.8.0"}
    said = check.compare(old, check.read(path), {*old} - {"torch"})
    jax = "jax 0.7.2 -> 0.8.0, a new major version"
    assert said == [jax, "keras 3.13.2 -> gone", "num-py 2.1.3 -> 2.2.0"]
    with pytest.raises(SystemExit, match="2"):
        check.main([])


@pytest.mark.night
@pytest.mark.timeout(1800)  # it makes a small replica
def test_a_lesson_that_needs_what_is_gone_is_named(tmp_path, required, capsys):
    path, stored = tmp_path / "gone.txt", check.replica.CPU.constraints.read_text("utf-8")
    gone = ("tensorflow==", "scikit-learn==")
    path.write_text("\n".join(row for row in stored.split() if not row.startswith(gone)))
    try:
        check.replica.find_python("3.13")
    except check.replica.NoReplica as reason:
        required(str(reason))
    assert check.main([str(path), "--lessons", "03 06"]) == 1
    said = capsys.readouterr().out
    assert "03_time_a_keras_model: failed in code" in said
    assert "06_inside_a_tpu: ran\n" in said
