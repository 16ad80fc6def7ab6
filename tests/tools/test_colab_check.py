"""What an author relies on when Colab's packages move on."""

import colab_check as check
import replica


def test_what_changed_is_said_of_the_packages_that_the_lessons_use(tmp_path):
    path = tmp_path / "freeze.txt"
    stored = check.read(replica.CPU.pins)
    others = [f"{name}=={version}" for name, version in stored.items() if name != "keras"]
    path.write_text("\n".join([*others, "Keras==9.0", "torch==9.0", "-e git+it"]))
    assert [*check.changes(check.read(path))] == [f"keras {stored['keras']} -> 9.0"]
