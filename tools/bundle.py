"""Put the course into one zip, for a drive, a stick or a room without a network."""

import sys
import zipfile
from pathlib import Path

import accel_helpers as ah

ROOT = Path(__file__).resolve().parents[1]
FIRST = (1980, 1, 1, 0, 0, 0)  # the same files give the same bytes, whenever they are packed


def pack(out: Path, wheel: Path, site: Path, root: Path = ROOT) -> Path:
    """Write the zip: lessons with the wheel beside them, guide, and the site with its slides."""
    files = {"README.txt": root / "tools/templates/bundle.txt", "LICENSE": root / "LICENSE"}
    lessons = root.glob("notebooks/[0-9][0-9]_*.ipynb")
    files |= {f"notebooks/{path.name}": path for path in (*lessons, wheel)}
    pages = {path for path in root.glob("docs/*.md") if path.name != "index.md"}  # the site's own
    files |= {f"docs/{path.name}": path for path in pages}
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
