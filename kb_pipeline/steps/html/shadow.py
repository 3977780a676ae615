"""What a page declares in the ``template`` of a component is shown in its place, with what fills its slots.

Source: https://html.spec.whatwg.org/#attr-template-shadowrootmode
"""

from kb_pipeline.steps.html.dom import Element


def open_shadows(page: Element) -> None:
    """Put what components show where their templates declare it, in place."""
    for template in list(page.iter("template")):
        host = template.getparent()
        if host is None or template.get("shadowrootmode") not in ("open", "closed"):
            continue
        given: dict[str, list[Element]] = {}
        for each in host:
            if each is not template:
                given.setdefault(each.get("slot") or "", []).append(each)
        for slot in list(template.iter("slot")):
            if fills := given.pop(slot.get("name") or "", None):  # the first one of a name
                slot.text = None
                slot[:] = fills
        for unseen in set(host) - {template}:  # without a slot
            unseen.tag = "template"
        template.tag = "div"
