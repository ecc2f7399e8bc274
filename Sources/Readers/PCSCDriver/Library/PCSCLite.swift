// SPDX-License-Identifier: Apache-2.0
import Glibc
import LinuxSupport
import TagLink

/// The functions of the system's libpcsclite.
///
/// The library is opened when it is first needed, so that the package builds and runs without it. Function pointers do
/// not change once they are found, so any thread may use them.
@safe struct PCSCLite: @unchecked Sendable {
    // DWORD and LONG are the C compiler's long in pcsc-lite.
    typealias Establish = @convention(c) (UInt, UnsafeRawPointer?, UnsafeRawPointer?, UnsafeMutablePointer<Int>) -> Int
    typealias OfHandle = @convention(c) (Int) -> Int
    typealias List =
        @convention(c) (Int, UnsafePointer<CChar>?, UnsafeMutablePointer<CChar>?, UnsafeMutablePointer<UInt>) -> Int
    typealias StatusChange = @convention(c) (Int, UInt, UnsafeMutableRawPointer?, UInt) -> Int
    typealias Connect =
        @convention(c) (
            Int, UnsafePointer<CChar>, UInt, UInt, UnsafeMutablePointer<Int>, UnsafeMutablePointer<UInt>
        ) -> Int
    typealias Reconnect = @convention(c) (Int, UInt, UInt, UInt, UnsafeMutablePointer<UInt>) -> Int
    typealias Disconnect = @convention(c) (Int, UInt) -> Int
    typealias Status =
        @convention(c) (
            Int, UnsafeMutablePointer<CChar>?, UnsafeMutablePointer<UInt>?, UnsafeMutablePointer<UInt>?,
            UnsafeMutablePointer<UInt>?, UnsafeMutablePointer<UInt8>?, UnsafeMutablePointer<UInt>?
        ) -> Int
    // SCARD_IO_REQUEST is two words: the protocol, and the structure's length.
    typealias Transmit =
        @convention(c) (
            Int, UnsafePointer<UInt>, UnsafePointer<UInt8>?, UInt, UnsafeMutablePointer<UInt>?,
            UnsafeMutablePointer<UInt8>?, UnsafeMutablePointer<UInt>
        ) -> Int
    typealias Control =
        @convention(c) (
            Int, UInt, UnsafeRawPointer?, UInt, UnsafeMutableRawPointer?, UInt, UnsafeMutablePointer<UInt>
        ) -> Int
    typealias Attribute = @convention(c) (Int, UInt, UnsafeMutablePointer<UInt8>?, UnsafeMutablePointer<UInt>) -> Int

    let establish: Establish
    let release: OfHandle
    let cancel: OfHandle
    let list: List
    let statusChange: StatusChange
    let connect: Connect
    let reconnect: Reconnect
    let disconnect: Disconnect
    let status: Status
    let transmit: Transmit
    let control: Control
    let attribute: Attribute

    private static let shared: Result<PCSCLite, SmartCardError> = Result { () throws(SmartCardError) in try PCSCLite() }

    private struct Use {
        /// Whether the process has started to exit. The library then frees its memory, and a call would crash.
        var isEnding = false
        /// The number of calls in progress that close a context or a card. They change the memory that the library
        /// frees.
        var closings = 0
    }

    private static let use = Locked(Use())

    /// How long the end of the process waits for calls that close something at most, in milliseconds.
    private static let goodbyeLimit = 300

    /// The library for a call; throws when it can't be used.
    static func forCall(_ name: String) throws(SmartCardError) -> PCSCLite {
        guard !use.withLock({ $0.isEnding }) else { throw SmartCardError(.cancelled, name) }
        do throws(SmartCardError) {
            return try shared.get()
        } catch {
            throw SmartCardError(error.code, name)
        }
    }

    /// Makes a call that closes a context or a card, unless the process has started to exit. The end of the process
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

    /// Throws if a call has failed.
    static func check(_ status: Int, _ call: String) throws(SmartCardError) {
        guard status == 0 else {
            throw SmartCardError(SmartCardError.Code(rawValue: UInt32(truncatingIfNeeded: status)), call)
        }
    }
}

extension PCSCLite {
    private init() throws(SmartCardError) {
        guard let library = SystemLibrary("libpcsclite.so.1") else {
            throw SmartCardError(.libraryMissing, "dlopen")
        }
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
        // The process's handlers run before the library's.
        atexit { PCSCLite.end() }
    }
}
