"""How long programs wait for other processes, of which there are none."""

from datetime import timedelta

default_pg_timeout = timedelta(minutes=30)

__all__ = ["default_pg_timeout"]
