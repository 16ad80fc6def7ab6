"""The README's pictures of a lesson and of the report: sharp, small, and not of nothing."""

import pytest
import screenshots
from PIL import Image

pytestmark = [pytest.mark.browser, pytest.mark.slow]
PAGE = "<body style='margin: 0'><p>before</p><div id=a>first</div><hr><div id=b>last</div>"


def test_a_picture_goes_from_one_part_of_a_page_to_another(needed, tmp_path):
    file, out = tmp_path / "page.html", tmp_path / "picture.png"
    file.write_text(PAGE)
    screenshots.take(file, "#a", "#b", out)
    image = Image.open(out)
    assert image.width == screenshots.WIDTH * screenshots.SCALE
    assert 100 < image.height < 300
    assert len(image.getcolors()) > 5
