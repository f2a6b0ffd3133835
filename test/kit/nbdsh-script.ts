/**
 * A protocol check for nbdsh, libnbd's Python shell: `h` is the connected handle, `nbd` the module.
 * It needs 8 MiB of the export, prints what it negotiated and ends with the line "protocol holds".
 */
export const NBDSH_PROTOCOL_SCRIPT = `
import errno

MIB = 1024 * 1024
size = h.get_size()
print("structured", h.get_structured_replies_negotiated())
print("can", h.can_flush(), h.can_fua(), h.can_trim(), h.can_zero(), h.can_multi_conn(), h.can_df())
print("blocks", [h.get_block_size(k)
                 for k in (nbd.SIZE_MINIMUM, nbd.SIZE_PREFERRED, nbd.SIZE_MAXIMUM)])
print("allocation", h.can_meta_context(nbd.CONTEXT_BASE_ALLOCATION))

def failing(call):
    try:
        call()
    except nbd.Error as error:
        return error.errno
    return "success"

# What libnbd would refuse by itself has to reach the server.
h.set_strict_mode(h.get_strict_mode() & ~(nbd.STRICT_BOUNDS | nbd.STRICT_ALIGN))
refusals = {
    "read past the end": (lambda: h.pread(4096, size), "EINVAL"),
    "read across the end": (lambda: h.pread(4096, size - 512), "EINVAL"),
    "write past the end": (lambda: h.pwrite(bytes(4096), size), "ENOSPC"),
    "write across the end": (lambda: h.pwrite(bytes(4096), size - 512), "ENOSPC"),
    "trim past the end": (lambda: h.trim(4096, size), "ENOSPC"),
    "zero past the end": (lambda: h.zero(4096, size), "ENOSPC"),
    "read of half a sector": (lambda: h.pread(256, 0), "EINVAL"),
    "write between sectors": (lambda: h.pwrite(bytes(512), 100), "EINVAL"),
}
for what, (call, expected) in refusals.items():
    got = failing(call)
    assert got == expected, (what, got, expected)

# Durable writes, trims and zeroes. Each one must leave its neighbours alone.
pattern = bytes(i * 7 % 251 for i in range(16384))
h.pwrite(pattern, MIB, nbd.CMD_FLAG_FUA)
assert h.pread(16384, MIB) == pattern
pieces = []
def piece(data, offset, status, error):
    assert status == nbd.READ_DATA
    pieces.append((offset, bytes(data)))
h.pread_structured(4096, MIB + 4096, piece, nbd.CMD_FLAG_DF)
assert pieces == [(MIB + 4096, pattern[4096:8192])]
h.pwrite(bytes([0xEE]) * 512, MIB + 512)
assert h.pread(1536, MIB) == pattern[:512] + bytes([0xEE]) * 512 + pattern[1024:1536]
h.zero(4096, MIB + 4096, nbd.CMD_FLAG_NO_HOLE | nbd.CMD_FLAG_FUA)
assert h.pread(4096, MIB + 4096) == bytes(4096)
assert h.pread(8192, MIB + 8192) == pattern[8192:]
assert failing(lambda: h.zero(4096, MIB + 8192, nbd.CMD_FLAG_FAST_ZERO)) in ("success", "ENOTSUP")
h.trim(16384, MIB, nbd.CMD_FLAG_FUA)
assert h.pread(16384, MIB) == bytes(16384)

# Extents cover what was asked for, in order, without gaps.
seen = []
def extent(context, offset, entries, error):
    assert context == "base:allocation" and offset == 0
    seen.extend(entries)
    return 0
h.pwrite(pattern, 2 * MIB)
h.block_status(4 * MIB, 0, extent)
assert sum(seen[0::2]) == 4 * MIB and all(length > 0 for length in seen[0::2]), seen
first = []
def first_extent(context, offset, entries, error):
    first.extend(entries)
    return 0
h.block_status(MIB, 2 * MIB, first_extent, nbd.CMD_FLAG_REQ_ONE)
assert len(first) == 2 and first[0] >= 16384 and first[1] == 0, first

# Many commands in flight; they may complete in any order.
finished = set()
def done(index):
    def callback(error):
        assert error.value == 0, (index, error.value)
        finished.add(index)
        return 1
    return callback
COUNT = 96
for i in range(COUNT):
    block = nbd.Buffer.from_bytearray(bytearray([i + 1]) * 8192)
    h.aio_pwrite(block, 4 * MIB + i * 8192, completion=done(i))
while h.aio_in_flight() > 0:
    h.poll(-1)
assert finished == set(range(COUNT))

# A second client, without structured replies, sees the same data; its flush covers the first's.
other = nbd.NBD()
other.set_request_structured_replies(False)
other.connect_uri(URI)
assert not other.get_structured_replies_negotiated()
other.flush()
for i in range(COUNT):
    assert other.pread(8192, 4 * MIB + i * 8192) == bytes([i + 1]) * 8192, i
other.set_strict_mode(0)
assert failing(lambda: other.pread(512, size)) == "EINVAL"
other.shutdown()
h.flush()
print("protocol holds")
`;
