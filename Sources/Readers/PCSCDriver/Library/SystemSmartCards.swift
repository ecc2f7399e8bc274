// SPDX-License-Identifier: Apache-2.0
import Glibc
import TagLink

/// The system's resource manager, accessed through libpcsclite.
@safe final class SystemSmartCards: SmartCardLayer {
    /// The only instance in the process, because the library supports one service in each process.
    static let shared = SystemSmartCards()

    /// A duplicate of each context's descriptor, if known. The library's own descriptor number may mean another file as
    /// soon as the context is released.
    private let connections = Locked<[Int: Int32]>([:])

    /// Held while the library opens or closes a context, or closes a card.
    ///
    /// To close a card, the library goes through the cards of all contexts without its own lock (pcsc-lite 2.5.1 and
    /// before). A context that another thread closes at that moment would crash the process. And only one context is
    /// opened at a time, so the new descriptor is the context's.
    private let contexts = Locked()

    /// The descriptors of probes.
    private let probes = Locked<Set<Int32>>([])

    /// Buffers that no call uses now.
    private let spare = Locked<[ResponseBuffer]>([])

    private let library: @Sendable (String) throws(SmartCardError) -> PCSCLite

    /// Creates a resource manager.
    ///
    /// - Parameter library: the library for a call, by the call's name.
    init(library: @escaping @Sendable (String) throws(SmartCardError) -> PCSCLite = PCSCLite.forCall) {
        self.library = library
    }

    var isServiceLikely: Bool { ServiceSocket.isThere }

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

    /// The descriptors of the library's connections.
    private func libraryConnections() -> Set<Int32> {
        // Under the lock. Otherwise a probe could be closed in between, and its number given to the library.
        probes.withLock { ServiceSocket.connections().subtracting($0) }
    }

    func releaseContext(_ context: Int) {
        // The duplicate is kept meanwhile, so that a release that hangs can be ended too.
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
        // It uses a separate connection to the service, and waits for an answer.
        let thread = DriverThread()
        thread.run { withExtendedLifetime(thread) { _ = library.cancel(context) } }
    }

    func listReaders(_ context: Int) throws(SmartCardError) -> [String] {
        let call = "SCardListReaders"
        let library = try self.library(call)
        // The list may get longer between the two calls.
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

    func connect(_ context: Int, reader: String, _ share: SmartCardShare) throws(SmartCardError) -> SmartCardHandle {
        let call = "SCardConnect"
        let library = try self.library(call)
        var handle = 0
        var activeProtocol: UInt = 0
        // SCARD_PROTOCOL_ANY. A reader without a card has none.
        let protocols: UInt = share == .direct ? 0 : 3
        try PCSCLite.check(
            unsafe library.connect(context, reader, share.rawValue, protocols, &handle, &activeProtocol),
            call
        )
        return SmartCardHandle(
            handle: handle,
            activeProtocol: activeProtocol,
            answerToReset: share == .direct ? [] : answerToReset(of: handle, library)
        )
    }

    func reset(_ card: SmartCardHandle, _ share: SmartCardShare) throws(SmartCardError) -> SmartCardHandle {
        let call = "SCardReconnect"
        let library = try self.library(call)
        var activeProtocol: UInt = 0
        // SCARD_PROTOCOL_ANY, SCARD_RESET_CARD
        try PCSCLite.check(unsafe library.reconnect(card.handle, share.rawValue, 3, 1, &activeProtocol), call)
        return SmartCardHandle(
            handle: card.handle,
            activeProtocol: activeProtocol,
            answerToReset: answerToReset(of: card.handle, library)
        )
    }

    private func answerToReset(of handle: Int, _ library: PCSCLite) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: 33)
        var count = UInt(bytes.count)
        let status = unsafe library.status(handle, nil, nil, nil, nil, &bytes, &count)
        return status == 0 ? Array(bytes.prefix(Int(count))) : []
    }

    func disconnect(_ card: SmartCardHandle, _ disposition: SmartCardDisposition) {
        guard let library = try? self.library("SCardDisconnect") else { return }
        contexts.withLock { _ in PCSCLite.close { _ = library.disconnect(card.handle, disposition.rawValue) } }
    }

    func transmit(_ card: SmartCardHandle, _ command: [UInt8]) throws(SmartCardError) -> [UInt8] {
        let call = "SCardTransmit"
        let library = try self.library(call)
        let buffer = spare.withLock { $0.popLast() } ?? ResponseBuffer()
        defer { spare.withLock { $0.append(buffer) } }
        let (status, response) = unsafe buffer.fill { memory, count in
            // SCARD_IO_REQUEST
            let header: (UInt, UInt) = (card.activeProtocol, UInt(2 * MemoryLayout<UInt>.size))
            return unsafe withUnsafePointer(to: header) { header in
                unsafe header.withMemoryRebound(to: UInt.self, capacity: 2) { words in
                    unsafe library.transmit(card.handle, words, command, UInt(command.count), nil, memory, count)
                }
            }
        }
        try PCSCLite.check(status, call)
        return response
    }

    func attribute(_ card: SmartCardHandle, _ identifier: UInt32) throws(SmartCardError) -> [UInt8] {
        let call = "SCardGetAttrib"
        let library = try self.library(call)
        // MAX_BUFFER_SIZE of pcsc-lite.
        var value = [UInt8](repeating: 0, count: 264)
        var count = UInt(value.count)
        try PCSCLite.check(unsafe library.attribute(card.handle, UInt(identifier), &value, &count), call)
        return Array(value.prefix(Int(count)))
    }

    func control(_ card: SmartCardHandle, code: UInt32, _ data: [UInt8]) throws(SmartCardError) -> [UInt8] {
        let call = "SCardControl"
        let library = try self.library(call)
        var response = [UInt8](repeating: 0, count: 1024)
        var count: UInt = 0
        try PCSCLite.check(
            unsafe library.control(
                card.handle,
                UInt(code),
                data,
                UInt(data.count),
                &response,
                UInt(response.count),
                &count
            ),
            call
        )
        return Array(response.prefix(Int(count)))
    }
}
