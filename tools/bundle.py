"""Put the course into one zip, for a drive, a stick or a room without a network."""

import sys
import zipfile
from pathlib import Path

from lesson import ROOT, chosen

import accel_helpers as ah

FIRST = (1980, 1, 1, 0, 0, 0)  # the same files give the same bytes, whenever they are packed


def pack(out: Path, wheel: Path, site: Path) -> Path:
    """Write the zip: lessons with the wheel beside them, guide, and the site with its slides."""
    files = {"README.txt": ROOT / "tools/templates/bundle.txt", "LICENSE": ROOT / "LICENSE"}
    files |= {f"notebooks/{path.name}": path for path in (*chosen([]), wheel)}
    files |= {f"docs/{path.name}": path for path in ROOT.glob("docs/*.md")}
    built = (path for path in site.rglob("*") if path.is_file())
    files |= {f"site/{path.relative_to(site).as_posix()}": path for path in built}
    out.parent.mkdir(exist_ok=True)
    with zipfile.ZipFile(out, "w") as archive:
        for name, path in sorted(files.items()):
            info = zipfile.ZipInfo(f"accelerator-course/{name}", FIRST)
            info.external_attr = 0o644 << 16  # everyone may read it
            archive.writestr(info, path.read_bytes(), zipfile.ZIP_DEFLATED)
    return out


if __name__ == "__main__":
    made = ROOT / f"dist/accel_helpers-{ah.__version__}-py3-none-any.whl"
    if not (made.is_file() and (ROOT / "course_site/index.html").is_file()):
        sys.exit("The site or the wheel is missing: `make bundle` makes both and packs them.")
    print(pack(ROOT / "dist/accelerator-course.zip", made, ROOT / "course_site"))
