"""What `describe` says of an accelerator, in the few words that pages and commands hang on."""

from accel_helpers.machine.runtime import describe


def test_what_is_attached_in_a_few_words(tmp_path):
    def verdict(smi="", **environ):
        found = describe(
            run=lambda *_: smi, environ=environ, root=tmp_path, versions=lambda _: None
        )
        return found.verdict

    assert verdict() == "nothing here"
    assert verdict(COLAB_RELEASE_TAG="r", COLAB_TPU_1VM="") == "nothing in Colab"
    assert verdict(COLAB_RELEASE_TAG="r", COLAB_TPU_1VM="1") == "a TPU that is not there"
    (tmp_path / "dev").mkdir()
    (tmp_path / "dev" / "nvidia0").touch()
    assert verdict("Tesla T4, 15360, 550.54.15") == "a GPU"
    assert verdict("Failed to initialize NVML") == "a driver that does not answer"
