"""`python -m byzmab` is the `byzmab` command."""

from byzmab.cli.main import main

main()
