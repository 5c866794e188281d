"""Who a node is: an Ed25519 key. The private half stays in a file of its own, the public half names the node."""

import fcntl
import os
import stat
from contextlib import suppress
from pathlib import Path
from typing import IO, Self

from nacl.exceptions import BadSignatureError
from nacl.signing import SigningKey, VerifyKey

from byzmab.core.errors import BadInput
from byzmab.node.faults import Unavailable, refusal

PUBLIC = "ed25519:"  # a public key as text: this and 64 hexadecimal digits
PRIVATE = "byzmab-private-key:"  # the content of a key file: this and 64 hexadecimal digits
KEY_BYTES = 32
SIGNATURE_BYTES = 64
OWNER_ONLY = 0o600
USED = ".used"  # a file beside a key file or a data directory: a node has begun its data with this key


class Key:
    """A private key; it never appears in a message, a log or a representation."""

    def __init__(self, seed: bytes) -> None:
        self._signing = SigningKey(seed)
        self.public = public_text(bytes(self._signing.verify_key))

    def __repr__(self) -> str:
        return f"Key({self.public})"

    @classmethod
    def generate(cls) -> Self:
        """A new key from the system's randomness."""
        return cls(bytes(SigningKey.generate()))

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """The key in a file that nobody but its owner can read."""
        text = read_private("key file", path, "; byzmab keygen makes one")
        seed = _from_hex(text.removeprefix(PRIVATE)) if text.startswith(PRIVATE) else None
        if seed is None:
            raise BadInput(f"key file {str(path)!r} holds no private key; allowed: a file of byzmab keygen")
        return cls(seed)

    def save(self, path: str | Path) -> None:
        """Write the key to a new file that its owner alone can read."""
        try:
            handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, OWNER_ONLY)
            with os.fdopen(handle, "w", encoding="ascii") as file:
                os.fchmod(handle, OWNER_ONLY)
                file.write(f"{PRIVATE}{bytes(self._signing).hex()}\n")
                file.flush()
                os.fsync(handle)
        except FileExistsError:
            raise BadInput(
                f"key file {str(path)!r} exists already; allowed: a new file, keys are never replaced"
            ) from None
        except OSError as error:
            raise BadInput(f"key file {str(path)!r} cannot be written: {error.strerror}") from None

    def sign(self, message: bytes) -> bytes:
        """The signature of a message, 64 bytes."""
        return self._signing.sign(message).signature


class InUse(Unavailable):
    """A key that another process has locked."""


def lock_key(path: str | Path) -> IO[bytes]:
    """Lock a key file for one node; return the open file, or BadInput if another process on this machine has it.

    The lock is the system's, on the file itself: there is nothing beside it that could be deleted.
    """
    try:
        file = Path(path).open("rb")  # noqa: SIM115 (the caller closes it)
    except OSError as error:
        raise refusal(f"key file {str(path)!r} cannot be read: {error.strerror}", error) from None
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        file.close()
        raise InUse(f"key file {str(path)!r} is in use by another node; allowed: one node for each key") from None
    return file


def was_used(public: str, *beside: str) -> bool:
    """Whether a node has begun its data with a key, as a file beside its key file or its data directory says."""
    for path in beside:
        with suppress(OSError, ValueError):
            if Path(f"{path}{USED}").read_text(encoding="ascii").strip() == public:
                return True
    return False


def can_mark(path: str) -> bool:
    """Whether it can be written beside a key file that the key is in use; the file that says so stays empty."""
    with suppress(OSError):
        Path(f"{path}{USED}").open("ab").close()
        return True
    return False


def mark_used(public: str, *beside: str) -> bool:
    """Write that a key is in use beside the first of some paths where that can be written; False if it cannot."""
    for path in beside:
        with suppress(OSError), Path(f"{path}{USED}").open("w", encoding="ascii") as file:
            file.write(f"{public}\n")
            file.flush()
            os.fsync(file.fileno())
            return True
    return False


def read_private(what: str, path: str | Path, advice: str = "") -> str:
    """The text of a file that nobody but its owner can read, or BadInput, with advice where it cannot be read."""
    try:
        mode = stat.S_IMODE(Path(path).stat().st_mode)
        text = Path(path).read_text(encoding="ascii").strip()
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "it is not plain text"
        raise refusal(f"{what} {str(path)!r} cannot be read: {reason}{advice}", error) from None
    if mode & ~OWNER_ONLY:
        raise BadInput(f"{what} {str(path)!r} has mode {mode:04o}; allowed: 0600, its owner alone")
    return text


def verify(public: bytes, signature: bytes, message: bytes) -> bool:
    """Whether the holder of a public key signed a message."""
    try:
        VerifyKey(public).verify(message, signature)
    except (BadSignatureError, ValueError):
        return False
    return True


def public_text(public: bytes) -> str:
    """The text of a public key."""
    return f"{PUBLIC}{public.hex()}"


def public_bytes(text: str) -> bytes:
    """The public key that a text stands for, or BadInput."""
    public = _from_hex(text.removeprefix(PUBLIC)) if isinstance(text, str) and text.startswith(PUBLIC) else None
    if public is None:
        raise BadInput(f"key {text!r} is not allowed; allowed: {PUBLIC} and {2 * KEY_BYTES} hexadecimal digits")
    return public


def _from_hex(digits: str) -> bytes | None:
    if len(digits) != 2 * KEY_BYTES or digits != digits.lower():
        return None
    try:
        return bytes.fromhex(digits)
    except ValueError:
        return None
