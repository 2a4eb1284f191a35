"""The program hprof-fleet."""

import sys

from .. import __version__
from .options import check_parser


def main() -> int:
    args = check_parser(__version__)[0].parse_args()
    try:
        from ._run import run
    except ImportError as failure:
        print(f"hprof-fleet: {failure}; it needs: pip install 'hprof-validate[fleet]'", file=sys.stderr)
        return 2
    return run(args)


if __name__ == "__main__":
    sys.exit(main())
