"""Pages in a real browser, with all that went wrong written down."""


def open_page(browser, file, width, selector):
    """Open a file at a width and wait until a selector is there; complaints and foreign requests are kept."""
    page = browser.new_page(viewport={"width": width, "height": 900})
    page.complaints, page.foreign = [], []
    page.on("console", lambda message: page.complaints.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: page.complaints.append(str(error)))
    page.on(
        "request",
        lambda request: (
            None if request.url.startswith(("file:", "data:", "blob:")) else page.foreign.append(request.url)
        ),
    )
    page.goto(file.as_uri())
    page.wait_for_selector(selector)
    return page
