// SPDX-License-Identifier: Apache-2.0
import TagLink

extension Type2Chip {
    /// WRITE: one page (MF0ICU1 data sheet, 7.6.5).
    mutating func write(_ address: UInt8, _ bytes: [UInt8]) -> Reply {
        guard let page = page(address), isWritable(page) else { return .refusal(.argument) }
        let old = Array(contents.memory[(page * 4)..<(page * 4 + 4)])
        guard let new = bytesAfterWriting(bytes, over: old, page: page) else { return .refusal(.argument) }
        program(page, old: old, new: new)
        if !product.locksAtActivation { latchLocks() }
        return .programmed
    }

    /// COMPATIBILITY_WRITE, first command (MF0ICU1 data sheet, 7.6.6).
    mutating func beginCompatibilityWrite(_ address: UInt8) -> Reply {
        guard let page = page(address), isWritable(page) else { return .refusal(.argument) }
        pending = .compatibilityWrite(page: address)
        return .acknowledge
    }

    /// COMPATIBILITY_WRITE, second command: 16 bytes. The first four of them are written.
    mutating func compatibilityWrite(_ address: UInt8, _ command: [UInt8]) -> Reply {
        guard command.count == 16 else { return .refusal(.argument) }
        return write(address, Array(command[0..<4]))
    }

    /// Returns whether a page can be written: it exists, does not contain the UID, is not locked, and its password was
    /// given.
    private func isWritable(_ page: Int) -> Bool {
        guard page >= 2, page < product.pageCount else { return false }
        if page >= latched.protectionStart, !isAuthenticated { return false }
        if LockField.statically.locks(page, bits: latched.staticLocks) { return false }
        if let lock = product.dynamicLock, lock.locks(page, bits: latched.dynamicLocks) { return false }
        if latched.isConfigurationLocked, let start = product.configurationPage, (start...(start + 1)).contains(page) {
            return false
        }
        return true
    }

    /// Returns a page's bytes after a write, following the rules for lock bits, one-time bits and counters.
    private func bytesAfterWriting(_ bytes: [UInt8], over old: [UInt8], page: Int) -> [UInt8]? {
        if page == 2 {
            return old[0..<2] + lockBytes(LockField.statically, writing: Array(bytes[2..<4]))
        }
        if page == 3 {
            // One-time programmable: bits can only be set.
            return zip(old, bytes).map { $0 | $1 }
        }
        if let lock = product.dynamicLock, page == lock.page {
            let bits = lockBytes(lock, writing: Array(bytes[0..<lock.bytes]))
            return bits + old[lock.bytes...]
        }
        if page == 41, product.features.contains(.pageCounter) {
            return pageCounter(old, writing: bytes)
        }
        return bytes
    }

    private func lockBytes(_ field: LockField, writing bytes: [UInt8]) -> [UInt8] {
        let requested = UInt32(bytes: bytes.reversed())
        let bits = field.bits(field.bits(in: contents.memory), afterWriting: requested)
        return [UInt8](littleEndian: Int(bits), count: field.bytes)
    }

    /// The 16-bit counter of page 41. The first write sets it, and later writes add to it, without overflow. A step is
    /// 0 to 15: Ultralight C uses the low four bits, NTAG203 refuses more (MF0ICU2 data sheet, 7.5.11; NTAG203 data
    /// sheet, 8.6). A real chip shows the sum after the next RF reset, this model at once.
    private func pageCounter(_ old: [UInt8], writing bytes: [UInt8]) -> [UInt8]? {
        let value = UInt32(old[0]) | UInt32(old[1]) << 8
        let written = UInt32(bytes[0]) | UInt32(bytes[1]) << 8
        if value != 0, written > 0x0F, !product.features.contains(.tripleDES) { return nil }
        let next = value == 0 ? written : value + (written & 0x0F)
        guard next <= 0xFFFF else { return nil }
        return [UInt8(next & 0xFF), UInt8(next >> 8), old[2], old[3]]
    }

    /// Programs a page, or the part of it that a power cut allows.
    private mutating func program(_ page: Int, old: [UInt8], new: [UInt8]) {
        var result = new
        switch tear {
        case nil, .new:
            break
        case .old:
            result = old
        case .mixed(let seed):
            var random = SplitMix64(seed: seed)
            if page == 2 || page == 3 || page == product.dynamicLock?.page {
                result = random.next() & 1 == 0 ? old : new
            } else {
                let mask = random.next()
                for index in 0..<4 {
                    let byte = UInt8(truncatingIfNeeded: mask >> (index * 8))
                    result[index] = (old[index] & ~byte) | (new[index] & byte)
                }
            }
        }
        contents.memory.replaceSubrange((page * 4)..<(page * 4 + 4), with: result)
    }

    mutating func latchLocks() {
        latched.staticLocks = LockField.statically.bits(in: contents.memory)
        latched.dynamicLocks = product.dynamicLock?.bits(in: contents.memory) ?? 0
    }
}
