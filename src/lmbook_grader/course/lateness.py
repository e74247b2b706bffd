"""What is late, to the second: due dates in the course's time zone, grace, days by the clock on the wall.

    days late = the smallest n >= 0 with  submitted <= due + n days + grace

A day is a day of the calendar: one that is due at 23:59:59 ends at 23:59:59 on the next day, also in the night in which
clocks are changed.  Where a clock shows a time twice, the later one counts; a day that ends at a time which the clock
leaves out ends as much later as the clock goes forward.  Both are in the student's favour.
"""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo


def exists(moment: datetime, zone: ZoneInfo) -> bool:
    """Whether the clocks of a zone ever show this time; moment: without a zone."""
    return moment.replace(tzinfo=zone).astimezone(UTC).astimezone(zone).replace(tzinfo=None) == moment


def instant(moment: datetime, zone: ZoneInfo) -> datetime:
    """The whole second in UTC; a time without a zone is the course's."""
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=zone, fold=1 if exists(moment, zone) else 0)
    return moment.astimezone(UTC).replace(microsecond=0)


def end_of_day(due: datetime, days: int, grace: timedelta, zone: ZoneInfo) -> datetime:
    """The last second in UTC that is no more than so many days late.  due: with or without a zone."""
    wall = instant(due, zone).astimezone(zone).replace(tzinfo=None)
    return (instant(wall + timedelta(days), zone) if days else instant(due, zone)) + grace


def days_late(submitted: datetime, due: datetime, grace: timedelta, zone: ZoneInfo) -> int:
    """Days late, each begun one as a whole; 0 for in time.  Times without a zone are the course's."""
    moment = instant(submitted, zone)
    days = max((moment - grace - instant(due, zone)).days - 1, 0)  # no less: a day has at most some hours more
    while moment > end_of_day(due, days, grace, zone):
        days += 1
    return days
