"""Run as a cell in the student's process, not imported here: what their functions do on one input, line by line.

What it returns is a student's word like all else from that process: plain data, looked at again outside.
"""


def lmbook_trace(name, arguments, options, most=4000):
    import sys

    hidden = ("<module>", "<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>", "<lambda>")
    changes, runs, frames, steps = [], {}, {}, [0]

    def scalar(value):
        if isinstance(value, bool):
            return str(value)
        if isinstance(value, int):
            return str(value) if abs(value) < 10_000 else None
        if isinstance(value, float):
            if value in (float("inf"), float("-inf")):
                return str(value)
            if abs(value) < 1000 and abs(value - round(value, 4)) < 1e-9:
                return f"{round(value, 4):g}"
            for below in range(3, 13):
                if abs(value) < 10 and abs(value * below - round(value * below)) < 1e-9:
                    return f"{round(value * below)}/{below}"
            return None
        if isinstance(value, str):
            return repr(value) if len(value) <= 24 else None
        return None

    def text(value, deep=0):
        if hasattr(value, "item") and getattr(value, "shape", None) == ():
            value = value.item()
        found = scalar(value)
        if found is not None:
            return found
        if hasattr(value, "tolist") and hasattr(value, "shape"):
            size = 1
            for one in value.shape:
                size *= one
            return text(value.tolist(), 1) if size <= 6 else None
        if isinstance(value, (list, tuple, set, frozenset)) and len(value) <= 5 and deep < 3:
            items = sorted(value, key=repr) if isinstance(value, (set, frozenset)) else value
            parts = [text(one, deep + 1) for one in items]
            if None in parts:
                return None
            if isinstance(value, tuple):
                return "(" + ", ".join(parts) + (",)" if len(parts) == 1 else ")")
            inside = ", ".join(parts)
            return f"[{inside}]" if isinstance(value, list) else f"{{{inside}}}" if parts else "set()"
        if isinstance(value, dict) and len(value) <= 4 and deep < 3:
            items = sorted(value.items(), key=repr)
            parts = [(text(key, deep + 1), text(one, deep + 1)) for key, one in items]
            if any(None in pair for pair in parts):
                return None
            return "{" + ", ".join(f"{key}: {one}" for key, one in parts) + "}"
        return None

    def told(value):
        """A kind and a text: of the value itself, of the shape of an array, of the length of a long collection."""
        found = text(value)
        if found is not None and len(found) <= 60:
            return ("value", found)
        if hasattr(value, "shape") and hasattr(value, "tolist") and len(value.shape):
            return ("shape", str(tuple(int(one) for one in value.shape)))
        if isinstance(value, (list, tuple, set, dict)):
            return ("length", str(len(value)))
        return None

    def look(frame):
        """What the line before has changed."""
        line, before = frames[id(frame)]
        now = {}
        for key, value in list(frame.f_locals.items()):
            if not key.startswith((".", "__")):
                now[key] = told(value)
        if line is not None and len(changes) < 400:
            place = (frame.f_code.co_filename, line)
            for key, found in now.items():
                if found is not None and before.get(key) != found:
                    changes.append((*place, key, *found, runs[place]))
        return now

    def step(frame, event, value):
        steps[0] += 1
        if steps[0] > most:
            sys.settrace(None)
            raise TimeoutError("lmbook: too many steps")
        if event == "line":
            now = look(frame)
            place = (frame.f_code.co_filename, frame.f_lineno)
            runs[place] = runs.get(place, 0) + 1
            frames[id(frame)] = (frame.f_lineno, now)
        elif event == "return":
            look(frame)
            frames.pop(id(frame), None)
        return step

    def call(frame, event, value):
        code = frame.f_code
        if not code.co_filename.startswith("<cell ") or code.co_name in hidden:
            return None
        frames[id(frame)] = (None, {key: told(one) for key, one in frame.f_locals.items()})
        return step

    answer = {"result": None, "error": None}
    function = globals()[name]
    before = sys.gettrace()
    sys.settrace(call)
    try:
        result = function(*arguments, **options)
    except Exception as error:
        sys.settrace(before)
        at, place = error.__traceback__, None
        while at is not None:
            code = at.tb_frame.f_code
            if code.co_filename.startswith("<cell ") and code.co_name != "<module>":
                place = (code.co_filename, at.tb_lineno)
            at = at.tb_next
        answer["error"] = (type(error).__name__, str(error)[:100], *(place or ("", 0)))
    else:
        sys.settrace(before)
        answer["result"] = lmbook_shown(result)
    answer["changes"] = changes
    answer["runs"] = [(*place, count) for place, count in runs.items()]
    return answer


def lmbook_shown(value, deep=0):
    """A result as it can be printed, numbers with four decimals; None where it is too large."""
    if hasattr(value, "item") and getattr(value, "shape", None) == ():
        value = value.item()
    if hasattr(value, "tolist") and hasattr(value, "shape"):
        value = value.detach().tolist() if hasattr(value, "detach") else value.tolist()
    if isinstance(value, bool) or value is None:
        return str(value)
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, str):
        return repr(value)[:60]
    if isinstance(value, (list, tuple)) and len(value) <= 8 and deep < 4:
        parts = [lmbook_shown(one, deep + 1) for one in value]
        found = None if None in parts else "[" + ", ".join(parts) + "]"
    elif isinstance(value, dict) and len(value) <= 6 and deep < 4:
        parts = [
            (lmbook_shown(key, deep + 1), lmbook_shown(one, deep + 1)) for key, one in sorted(value.items(), key=repr)
        ]
        found = None if any(None in pair for pair in parts) else "{" + ", ".join(f"{k}: {v}" for k, v in parts) + "}"
    else:
        return None
    return found if found is None or len(found) <= 90 else None
