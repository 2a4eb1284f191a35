"""hprof-fleet: checks the heap dumps of a store on a Dask cluster. Needs the extra: pip install 'hprof-validate[fleet]'."""
