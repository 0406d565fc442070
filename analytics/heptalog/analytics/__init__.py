"""SQL over the log: views that a connection installs for itself, one file each."""
