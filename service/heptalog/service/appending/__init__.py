"""Appends on their way: read from requests and streams, gathered into groups, and answered once they are durable."""
