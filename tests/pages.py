"""Pages in a real browser, with all that went wrong written down, and networks to look at."""

import re

# What the pages ask of Plotly: it is given the same curves, and draws nothing.
UNDRAWN = "window.Plotly = { react: async (box, data, layout) => { Object.assign(box, { data, layout, on() {} }); } };"


def leave_undrawn(page):
    """Load no Plotly, which is half of the work of a page; for tests that look at no chart."""
    page.route("**/plotly.js", lambda route: route.fulfill(body=UNDRAWN, content_type="text/javascript"))


def open_page(browser, target, width, selector, charts=True, **context):
    """Open a file or an address at a width and wait until a selector is there; complaints and foreign requests are kept."""
    page = browser.new_page(viewport={"width": width, "height": 900}, **context)
    if not charts:
        leave_undrawn(page)
    address = target if isinstance(target, str) else target.as_uri()
    at_home = ("file:", "data:", "blob:", "/".join(address.split("/")[:3]) + "/")
    page.complaints, page.foreign = [], []
    page.on("console", lambda message: page.complaints.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: page.complaints.append(str(error)))
    page.on(
        "request",
        lambda request: None if request.url.startswith(at_home) else page.foreign.append(request.url),
    )
    page.goto(address)
    page.wait_for_selector(selector)
    return page


def turn(page, scheme):
    """Turn a page that is open light or dark, and wait until it has drawn its charts anew."""
    page.emulate_media(color_scheme=scheme)
    page.wait_for_function(
        "() => [...document.querySelectorAll('.js-plotly-plot')].every((box) => box.layout.paper_bgcolor"
        " === getComputedStyle(document.documentElement).getPropertyValue('--card').trim())"
    )


def addresses_of(process):
    """The overview of a network that `byzmab network` starts, and its nodes by number, from what it prints."""
    nodes = {}
    for line in process.stderr:
        if found := re.match(r"agent-(\d+): (\S+)", line):
            nodes[int(found[1])] = f"{found[2]}/"
        if line.startswith("watch it at "):
            return line.split()[3], nodes
    raise AssertionError("the network ended before it began")
