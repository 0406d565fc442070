"""Questions over the whole history: tables that follow the log, views, ratings, confined SQL, Parquet, reports."""
