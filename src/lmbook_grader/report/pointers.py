"""Where an answer is treated: the section of a chapter that a homework's metadata names."""

from nbformat import NotebookNode

from lmbook_press.book import anchor


def pointers(master: NotebookNode, site: str | None = None) -> dict[str, str]:
    """grade_id of an answer -> the section that treats it, in words, and with the site's address as a link.

    The master says so in its metadata, lmbook.sections: grade_id -> [chapter, heading of the section].
    """
    found = {}
    for name, (chapter, heading) in master.metadata.get("lmbook", {}).get("sections", {}).items():
        words = f"chapter {int(chapter.split('-')[0])}, “{heading}”"
        if site:
            from lmbook_press.rendering import filled  # not in a page, where no link is asked for

            address = f"{site.rstrip('/')}/notebooks/{chapter}.html#{anchor(heading)}"
            words = filled('<a href="{}">{}</a>', address, words)
        found[name] = words
    return found
