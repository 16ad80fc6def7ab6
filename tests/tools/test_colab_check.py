"""What an author relies on when Colab's packages move on."""

import colab_check as check


def test_what_changed_is_said_of_the_packages_that_the_lessons_use(tmp_path):
    path = tmp_path / "freeze.txt"
    path.write_text("Jax==0.8.0\nnum_py==2.2.0\ntorch==9.0\n-e git+it")
    old = {"jax": "0.7.2", "keras": "3.13.2", "num-py": "2.1.3", "torch": "2.8.0"}
    said = check.compare(old, check.read(path), {"jax", "keras", "num-py"})
    assert said == ["jax 0.7.2 -> 0.8.0", "keras 3.13.2 -> gone", "num-py 2.1.3 -> 2.2.0"]
