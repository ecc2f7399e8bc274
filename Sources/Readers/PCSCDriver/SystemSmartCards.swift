// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Glibc
import LinuxSupport
import TagLink

/// The system's resource manager, accessed through libpcsclite.
@safe final class SystemSmartCards: SmartCardLayer {
    /// The only instance in the process, because the library supports one service per process.
    static let shared = SystemSmartCards()

    /// A duplicate of each context's descriptor, if known. The library's own descriptor number may be reused for
    /// another file as soon as the context is released.
    private let connections = Locked<[Int: Int32]>([:])

    /// Locked while the library opens or closes a context, or closes a card.
    ///
    /// To close a card, the library goes through the cards of all contexts without a lock of its own (pcsc-lite 2.5.1
    /// and before). If another thread closed a context at that moment, the process would crash. Also, only one context
    /// is opened at a time, so a new descriptor must belong to that context.
    private let contexts = Locked()

    private let probes = Locked<Set<Int32>>([])

    private let spareBuffers = Locked<[ResponseBuffer]>([])

    private let library: @Sendable (String) throws(SmartCardError) -> PCSCLite

    init(library: @escaping @Sendable (String) throws(SmartCardError) -> PCSCLite = PCSCLite.forCall) {
        self.library = library
    }

    var isServiceLikely: Bool { ServiceSocket.exists }

    func establishContext(_ cut: CancellationSignal) throws(SmartCardError) -> Int {
        let call = "SCardEstablishContext"
        try ServiceProbe.check(cut, probes)
        let library = try self.library(call)
        return try contexts.withLock { _ throws(SmartCardError) in
            let before = libraryConnections()
            var context = 0
            let status = try cut.wait(endedBy: { [self] in
                for new in libraryConnections().subtracting(before) { shutdown(new, Int32(SHUT_RDWR)) }
            }) {
                // SCARD_SCOPE_SYSTEM
                unsafe library.establish(2, nil, nil, &context)
            }
            if status != 0, ServiceSocket.isForbidden { throw SmartCardError(.socketForbidden, call) }
            try PCSCLite.check(status, call)
            let new = libraryConnections().subtracting(before)
            if new.count == 1, let descriptor = new.first {
                let copy = fcntl(descriptor, F_DUPFD_CLOEXEC, 0)
                if copy >= 0 { connections.withLock { $0[context] = copy } }
            }
            return context
        }
    }

    private func libraryConnections() -> Set<Int32> {
        // Under the lock, so that no probe closes meanwhile and the library reuses its number.
        probes.withLock { ServiceSocket.connections().subtracting($0) }
    }

    func releaseContext(_ context: Int) {
        // The copy of the connection's descriptor is closed only after the release: `abandon` needs the copy to end a
        // release that hangs.
        if let library = try? self.library("SCardReleaseContext") {
            contexts.withLock { _ in PCSCLite.close { _ = library.release(context) } }
        }
        if let copy = connections.withLock({ $0.removeValue(forKey: context) }) { close(copy) }
    }

    func abandon(_ context: Int) {
        let isKnown = connections.withLock { connections in
            guard let descriptor = connections[context] else { return false }
            shutdown(descriptor, Int32(SHUT_RDWR))
            return true
        }
        guard !isKnown, let library = try? self.library("SCardCancel") else { return }
        // SCardCancel uses a separate connection to the service, and waits for an answer.
        DispatchQueue(label: "org.opencorenfc.pcsc.cancel").async { _ = library.cancel(context) }
    }

    func listReaders(_ context: Int) throws(SmartCardError) -> [String] {
        let call = "SCardListReaders"
        let library = try self.library(call)
        // The list may grow between the two calls.
        for _ in 0..<4 {
            var length: UInt = 0
            var status = unsafe library.list(context, nil, nil, &length)
            if UInt32(truncatingIfNeeded: status) == SmartCardError.Code.noReaders.rawValue { return [] }
            try PCSCLite.check(status, call)
            var names = [CChar](repeating: 0, count: Int(length))
            status = unsafe library.list(context, nil, &names, &length)
            switch SmartCardError.Code(rawValue: UInt32(truncatingIfNeeded: status)) {
            case .insufficientBuffer: continue
            case .noReaders: return []
            default: try PCSCLite.check(status, call)
            }
            let bytes = names.prefix(Int(length)).map { UInt8(bitPattern: $0) }
            return bytes.split(separator: 0).map { String(decoding: $0, as: UTF8.self) }
        }
        throw SmartCardError(.insufficientBuffer, call)
    }

    func waitForChange(
        _ context: Int,
        milliseconds: UInt32?,
        of states: [SmartCardReaderState]
    ) throws(SmartCardError) -> [SmartCardReaderState]? {
        let call = "SCardGetStatusChange"
        let library = try self.library(call)
        let table = ReaderStateTable(states)
        let status = unsafe table.withPointer {
            unsafe library.statusChange(context, UInt(milliseconds ?? .max), $0, UInt(states.count))
        }
        if UInt32(truncatingIfNeeded: status) == SmartCardError.Code.timeout.rawValue { return nil }
        try PCSCLite.check(status, call)
        return table.states
    }

    func waitForService(milliseconds: Int, _ cut: CancellationSignal) {
        ServiceWatch.wait(milliseconds: milliseconds, cut)
    }

    private func perform(_ call: String, _ body: (PCSCLite) -> Int) throws(SmartCardError) {
        try PCSCLite.check(body(try library(call)), call)
    }

    func connect(_ context: Int, reader: String, _ share: SmartCardShare) throws(SmartCardError) -> SmartCardHandle {
        var handle = 0
        var activeProtocol: UInt = 0
        // SCARD_PROTOCOL_ANY. Without a card there is no protocol.
        let protocols: UInt = share == .direct ? 0 : 3
        try perform("SCardConnect") { library in
            unsafe library.connect(context, reader, share.rawValue, protocols, &handle, &activeProtocol)
        }
        let answer = share == .direct ? [] : answerToReset(of: handle)
        return SmartCardHandle(handle: handle, activeProtocol: activeProtocol, answerToReset: answer)
    }

    func reset(
        _ card: SmartCardHandle,
        _ share: SmartCardShare,
        _ disposition: SmartCardDisposition
    ) throws(SmartCardError) -> SmartCardHandle {
        var activeProtocol: UInt = 0
        // SCARD_PROTOCOL_ANY
        try perform("SCardReconnect") { library in
            unsafe library.reconnect(card.handle, share.rawValue, 3, disposition.rawValue, &activeProtocol)
        }
        let answer = answerToReset(of: card.handle)
        return SmartCardHandle(handle: card.handle, activeProtocol: activeProtocol, answerToReset: answer)
    }

    private func answerToReset(of handle: Int) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: 33)
        var count = UInt(bytes.count)
        do throws(SmartCardError) {
            try perform("SCardStatus") { unsafe $0.status(handle, nil, nil, nil, nil, &bytes, &count) }
            return Array(bytes.prefix(Int(count)))
        } catch {
            return []
        }
    }

    func disconnect(_ card: SmartCardHandle, _ disposition: SmartCardDisposition) {
        guard let library = try? self.library("SCardDisconnect") else { return }
        contexts.withLock { _ in PCSCLite.close { _ = library.disconnect(card.handle, disposition.rawValue) } }
    }

    func transmit(_ card: SmartCardHandle, _ command: [UInt8]) throws(SmartCardError) -> [UInt8] {
        let library = try self.library("SCardTransmit")
        let buffer = spareBuffers.withLock { $0.popLast() } ?? ResponseBuffer()
        defer { spareBuffers.withLock { $0.append(buffer) } }
        let (status, response) = unsafe buffer.fill { memory, count in
            // SCARD_IO_REQUEST
            let header: (UInt, UInt) = (card.activeProtocol, UInt(2 * MemoryLayout<UInt>.size))
            return unsafe withUnsafePointer(to: header) { header in
                unsafe header.withMemoryRebound(to: UInt.self, capacity: 2) { words in
                    unsafe library.transmit(card.handle, words, command, UInt(command.count), nil, memory, count)
                }
            }
        }
        try PCSCLite.check(status, "SCardTransmit")
        return response
    }

    func attribute(_ card: SmartCardHandle, _ identifier: UInt32) throws(SmartCardError) -> [UInt8] {
        // MAX_BUFFER_SIZE of pcsc-lite.
        var value = [UInt8](repeating: 0, count: 264)
        var count = UInt(value.count)
        try perform("SCardGetAttrib") { unsafe $0.attribute(card.handle, UInt(identifier), &value, &count) }
        return Array(value.prefix(Int(count)))
    }

    func control(_ card: SmartCardHandle, code: UInt32, _ data: [UInt8]) throws(SmartCardError) -> [UInt8] {
        var response = [UInt8](repeating: 0, count: 1024)
        let capacity = UInt(response.count)
        var count: UInt = 0
        try perform("SCardControl") { library in
            unsafe library.control(card.handle, UInt(code), data, UInt(data.count), &response, capacity, &count)
        }
        return Array(response.prefix(Int(count)))
    }
}

/// The functions of the system's libpcsclite.
/// The library is opened when it is first needed, so the package builds and runs without it. The function pointers
/// never change once they are found, so any thread may use them.
@safe struct PCSCLite: @unchecked Sendable {
    // In pcsc-lite, DWORD and LONG are the C compiler's `long`.
    let establish: @convention(c) (UInt, UnsafeRawPointer?, UnsafeRawPointer?, UnsafeMutablePointer<Int>) -> Int
    let release: @convention(c) (Int) -> Int
    let cancel: @convention(c) (Int) -> Int
    let list:
        @convention(c) (Int, UnsafePointer<CChar>?, UnsafeMutablePointer<CChar>?, UnsafeMutablePointer<UInt>) -> Int
    let statusChange: @convention(c) (Int, UInt, UnsafeMutableRawPointer?, UInt) -> Int
    let connect:
        @convention(c) (
            Int, UnsafePointer<CChar>, UInt, UInt, UnsafeMutablePointer<Int>, UnsafeMutablePointer<UInt>
        ) -> Int
    let reconnect: @convention(c) (Int, UInt, UInt, UInt, UnsafeMutablePointer<UInt>) -> Int
    let disconnect: @convention(c) (Int, UInt) -> Int
    let status:
        @convention(c) (
            Int, UnsafeMutablePointer<CChar>?, UnsafeMutablePointer<UInt>?, UnsafeMutablePointer<UInt>?,
            UnsafeMutablePointer<UInt>?, UnsafeMutablePointer<UInt8>?, UnsafeMutablePointer<UInt>?
        ) -> Int
    // SCARD_IO_REQUEST has two words: the protocol and the length of the structure.
    let transmit:
        @convention(c) (
            Int, UnsafePointer<UInt>, UnsafePointer<UInt8>?, UInt, UnsafeMutablePointer<UInt>?,
            UnsafeMutablePointer<UInt8>?, UnsafeMutablePointer<UInt>
        ) -> Int
    let control:
        @convention(c) (
            Int, UInt, UnsafeRawPointer?, UInt, UnsafeMutableRawPointer?, UInt, UnsafeMutablePointer<UInt>
        ) -> Int
    let attribute: @convention(c) (Int, UInt, UnsafeMutablePointer<UInt8>?, UnsafeMutablePointer<UInt>) -> Int

    private static let shared: Result<PCSCLite, SmartCardError> = Result { () throws(SmartCardError) in try PCSCLite() }

    private struct Use {
        /// Whether the process has started to exit. The library then frees its memory, so a call would crash.
        var isEnding = false
        /// The number of calls in progress that close a context or a card. They use the memory that the library frees.
        var closings = 0
    }

    private static let use = Locked(Use())

    /// How long the exit of the process waits for such calls, in milliseconds.
    private static let goodbyeLimit = 300

    /// Returns the library for a call. Throws when the library can't be used.
    static func forCall(_ name: String) throws(SmartCardError) -> PCSCLite {
        guard !use.withLock({ $0.isEnding }) else { throw SmartCardError(.cancelled, name) }
        do throws(SmartCardError) {
            return try shared.get()
        } catch {
            throw SmartCardError(error.code, name)
        }
    }

    /// Makes a call that closes a context or a card, unless the process has started to exit. An exit during the call
    /// waits for the call.
    static func close(_ call: () -> Void) {
        let isAllowed = use.withLock { use in
            if !use.isEnding { use.closings += 1 }
            return !use.isEnding
        }
        guard isAllowed else { return }
        call()
        use.withLock { $0.closings -= 1 }
    }

    private static func end() {
        use.withLock { $0.isEnding = true }
        for _ in 0..<goodbyeLimit where use.withLock({ $0.closings }) > 0 { usleep(1000) }
    }

    private static func function<Function>(
        _ name: String,
        of library: SystemLibrary
    ) throws(SmartCardError) -> Function {
        guard let function = unsafe library.function(name, as: Function.self) else {
            throw SmartCardError(.libraryMissing, name)
        }
        return function
    }

    static func check(_ status: Int, _ call: String) throws(SmartCardError) {
        guard status == 0 else {
            throw SmartCardError(SmartCardError.Code(rawValue: UInt32(truncatingIfNeeded: status)), call)
        }
    }
}

extension PCSCLite {
    private init() throws(SmartCardError) {
        guard let library = SystemLibrary("libpcsclite.so.1") else { throw SmartCardError(.libraryMissing, "dlopen") }
        unsafe establish = try Self.function("SCardEstablishContext", of: library)
        release = try Self.function("SCardReleaseContext", of: library)
        cancel = try Self.function("SCardCancel", of: library)
        unsafe list = try Self.function("SCardListReaders", of: library)
        unsafe statusChange = try Self.function("SCardGetStatusChange", of: library)
        unsafe connect = try Self.function("SCardConnect", of: library)
        unsafe reconnect = try Self.function("SCardReconnect", of: library)
        disconnect = try Self.function("SCardDisconnect", of: library)
        unsafe status = try Self.function("SCardStatus", of: library)
        unsafe transmit = try Self.function("SCardTransmit", of: library)
        unsafe control = try Self.function("SCardControl", of: library)
        unsafe attribute = try Self.function("SCardGetAttrib", of: library)
        // The process's own exit handlers run before the library's.
        atexit { PCSCLite.end() }
    }
}

/// An array of SCARD_READERSTATE in memory. Each element has the name, user data, two states and the ATR's length in
/// one word each, and 33 bytes of ATR.
@safe final class ReaderStateTable {
    private static let word = MemoryLayout<UInt>.size
    private static let answerOffset = 5 * word
    private static let answerLength = 33
    private static let stride = (answerOffset + answerLength + word - 1) / word * word

    private let initialStates: [SmartCardReaderState]
    private let memory: UnsafeMutableRawPointer
    private let names: [UnsafeMutablePointer<CChar>?]

    init(_ states: [SmartCardReaderState]) {
        initialStates = states
        let count = max(1, states.count)
        unsafe memory = .allocate(byteCount: count * Self.stride, alignment: Self.word)
        unsafe memset(memory, 0, count * Self.stride)
        unsafe names = states.map { unsafe strdup($0.reader) }
        for (index, state) in states.enumerated() {
            let entry = unsafe memory + index * Self.stride
            unsafe entry.storeBytes(of: UInt(bitPattern: names[index]), as: UInt.self)
            let knownFlags = state.flags.subtracting(.changed).rawValue
            unsafe entry.storeBytes(of: UInt(knownFlags), toByteOffset: 2 * Self.word, as: UInt.self)
        }
    }

    deinit {
        for index in initialStates.indices { unsafe free(names[index]) }
        unsafe memory.deallocate()
    }

    func withPointer<Value>(_ body: (UnsafeMutableRawPointer) -> Value) -> Value {
        unsafe body(memory)
    }

    var states: [SmartCardReaderState] {
        initialStates.indices.map { index in
            let entry = unsafe memory + index * Self.stride
            let flags = unsafe entry.load(fromByteOffset: 3 * Self.word, as: UInt.self)
            let count = min(Self.answerLength, Int(unsafe entry.load(fromByteOffset: 4 * Self.word, as: UInt.self)))
            let answer = unsafe UnsafeRawBufferPointer(start: entry + Self.answerOffset, count: count)
            return SmartCardReaderState(
                initialStates[index].reader,
                flags: SmartCardReaderState.Flags(rawValue: UInt32(truncatingIfNeeded: flags)),
                answerToReset: unsafe Array(answer)
            )
        }
    }
}

/// A buffer for the longest response. The buffer is reused, because allocating and freeing so much memory takes a
/// considerable part of an exchange's time.
///
/// Sendable because only one call at a time uses a buffer.
@safe final class ResponseBuffer: @unchecked Sendable {
    /// 65536 bytes, a status word, and the bytes that pcsc-lite adds.
    private static let size = 65538 + 10

    private let memory = UnsafeMutablePointer<UInt8>.allocate(capacity: size)

    deinit {
        unsafe memory.deallocate()
    }

    /// Lets a call fill the buffer. Returns the status of the call, and the response if the status is 0.
    func fill(
        _ call: (UnsafeMutablePointer<UInt8>, UnsafeMutablePointer<UInt>) -> Int
    ) -> (status: Int, response: [UInt8]) {
        var count = UInt(Self.size)
        let status = unsafe call(memory, &count)
        let length = status == 0 ? min(Self.size, Int(count)) : 0
        return (status, unsafe Array(UnsafeBufferPointer(start: memory, count: length)))
    }
}
