"""What `describe` says of an accelerator, in the few words that pages and commands hang on."""

import pytest

from accel_helpers.machine.runtime import describe

COLAB = {"COLAB_RELEASE_TAG": "r", "COLAB_TPU_1VM": ""}
T4 = "Tesla T4, 15360, 550.54.15"


@pytest.mark.parametrize(
    ("environ", "smi", "verdict"),
    [
        ({}, None, "nothing here"),
        (COLAB, None, "nothing in Colab"),
        (COLAB | {"COLAB_TPU_1VM": "1"}, None, "a TPU that is not there"),
        ({}, T4, "a GPU"),
        ({}, "Failed to initialize NVML", "a driver that does not answer"),
    ],
)
def test_what_is_attached_in_a_few_words(tmp_path, environ, smi, verdict):
    if smi:
        (tmp_path / "dev").mkdir()
        (tmp_path / "dev" / "nvidia0").touch()
    found = describe(
        run=lambda *_: smi or "", environ=environ, root=tmp_path, versions=lambda _: None
    )
    assert found.verdict == verdict
