// SPDX-License-Identifier: Apache-2.0
import Glibc

/// An array of SCARD_READERSTATE in memory. An element has the name, user data, two states and the ATR's length in one
/// word each, and 33 bytes of ATR.
@safe final class ReaderStateTable {
    private static let word = MemoryLayout<UInt>.size
    private static let answerOffset = 5 * word
    private static let answerLength = 33
    private static let stride = (answerOffset + answerLength + word - 1) / word * word

    private let initial: [SmartCardReaderState]
    private let memory: UnsafeMutableRawPointer
    private let names: [UnsafeMutablePointer<CChar>?]

    init(_ states: [SmartCardReaderState]) {
        initial = states
        let count = max(1, states.count)
        unsafe memory = .allocate(byteCount: count * Self.stride, alignment: Self.word)
        unsafe memset(memory, 0, count * Self.stride)
        unsafe names = states.map { unsafe strdup($0.reader) }
        for (index, state) in states.enumerated() {
            let entry = unsafe memory + index * Self.stride
            unsafe entry.storeBytes(of: UInt(bitPattern: names[index]), as: UInt.self)
            let known = state.flags.subtracting(.changed).rawValue
            unsafe entry.storeBytes(of: UInt(known), toByteOffset: 2 * Self.word, as: UInt.self)
        }
    }

    deinit {
        for index in initial.indices { unsafe free(names[index]) }
        unsafe memory.deallocate()
    }

    /// Passes the array to a call.
    func withPointer<Value>(_ body: (UnsafeMutableRawPointer) -> Value) -> Value {
        unsafe body(memory)
    }

    /// The states that the call has written.
    var states: [SmartCardReaderState] {
        initial.indices.map { index in
            let entry = unsafe memory + index * Self.stride
            let flags = unsafe entry.load(fromByteOffset: 3 * Self.word, as: UInt.self)
            let count = min(Self.answerLength, Int(unsafe entry.load(fromByteOffset: 4 * Self.word, as: UInt.self)))
            let answer = unsafe UnsafeRawBufferPointer(start: entry + Self.answerOffset, count: count)
            return SmartCardReaderState(
                initial[index].reader,
                flags: SmartCardReaderState.Flags(rawValue: UInt32(truncatingIfNeeded: flags)),
                answerToReset: unsafe Array(answer)
            )
        }
    }
}
