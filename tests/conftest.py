"""What every test may rely on."""

import signal
import threading


def pytest_configure():
    # A shell that starts the tests in the background has them ignore Ctrl-C, and so would every
    # program that a test starts and interrupts.
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, signal.default_int_handler)
