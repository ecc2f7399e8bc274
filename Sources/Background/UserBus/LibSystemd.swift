// SPDX-License-Identifier: Apache-2.0
import SystemLibrary

/// The functions of sd-bus that are used here, from the system's libsystemd.
///
/// It is opened when it is first needed, so that the package builds and runs where it is absent. Pointers to functions
/// never change once they were found, so that any thread may use them.
@safe struct LibSystemd: @unchecked Sendable {
    typealias Pointer = OpaquePointer
    typealias Text = UnsafePointer<CChar>
    typealias Open = @convention(c) (UnsafeMutablePointer<Pointer?>?) -> CInt
    typealias SetAddress = @convention(c) (Pointer?, Text?) -> CInt
    typealias SetFlag = @convention(c) (Pointer?, CInt) -> CInt
    typealias Unref = @convention(c) (Pointer?) -> Pointer?
    typealias NewCall = @convention(c) (Pointer?, UnsafeMutablePointer<Pointer?>?, Text?, Text?, Text?, Text?) -> CInt
    typealias NewAnswer = @convention(c) (Pointer?, UnsafeMutablePointer<Pointer?>?) -> CInt
    typealias AppendBasic = @convention(c) (Pointer?, CChar, UnsafeRawPointer?) -> CInt
    typealias AppendArray = @convention(c) (Pointer?, CChar, UnsafeRawPointer?, Int) -> CInt
    typealias OpenContainer = @convention(c) (Pointer?, CChar, Text?) -> CInt
    typealias Simple = @convention(c) (Pointer?) -> CInt
    typealias ReadBasic = @convention(c) (Pointer?, CChar, UnsafeMutableRawPointer?) -> CInt
    typealias ReadArray =
        @convention(c) (Pointer?, CChar, UnsafeMutablePointer<UnsafeRawPointer?>?, UnsafeMutablePointer<Int>?) -> CInt
    typealias HasSignature = @convention(c) (Pointer?, Text?) -> CInt
    typealias Process = @convention(c) (Pointer?, UnsafeMutablePointer<Pointer?>?) -> CInt
    typealias Wait = @convention(c) (Pointer?, UInt64) -> CInt
    typealias Send = @convention(c) (Pointer?, Pointer?, UnsafeMutablePointer<UInt64>?) -> CInt

    let openUser: Open
    let newBus: Open
    let setAddress: SetAddress
    let setClient: SetFlag
    let startBus: Simple
    let closeBus: Unref
    let unrefMessage: Unref
    let newCall: NewCall
    let newAnswer: NewAnswer
    let appendBasic: AppendBasic
    let appendArray: AppendArray
    let openContainer: OpenContainer
    let closeContainer: Simple
    let readBasic: ReadBasic
    let readArray: ReadArray
    let hasSignature: HasSignature
    let process: Process
    let wait: Wait
    let send: Send

    /// The library, or why it can't be had.
    static let shared: Result<LibSystemd, BusError> = Result { () throws(BusError) in try LibSystemd() }

    private init() throws(BusError) {
        guard let library = SystemLibrary("libsystemd.so.0") else {
            throw BusError(
                .libraryMissing,
                "libsystemd.so.0 is not installed. Install it with: apt-get install libsystemd0"
            )
        }
        unsafe openUser = try Self.function("sd_bus_open_user", of: library)
        unsafe newBus = try Self.function("sd_bus_new", of: library)
        unsafe setAddress = try Self.function("sd_bus_set_address", of: library)
        unsafe setClient = try Self.function("sd_bus_set_bus_client", of: library)
        unsafe startBus = try Self.function("sd_bus_start", of: library)
        unsafe closeBus = try Self.function("sd_bus_close_unref", of: library)
        unsafe unrefMessage = try Self.function("sd_bus_message_unref", of: library)
        unsafe newCall = try Self.function("sd_bus_message_new_method_call", of: library)
        unsafe newAnswer = try Self.function("sd_bus_message_new_method_return", of: library)
        unsafe appendBasic = try Self.function("sd_bus_message_append_basic", of: library)
        unsafe appendArray = try Self.function("sd_bus_message_append_array", of: library)
        unsafe openContainer = try Self.function("sd_bus_message_open_container", of: library)
        unsafe closeContainer = try Self.function("sd_bus_message_close_container", of: library)
        unsafe readBasic = try Self.function("sd_bus_message_read_basic", of: library)
        unsafe readArray = try Self.function("sd_bus_message_read_array", of: library)
        unsafe hasSignature = try Self.function("sd_bus_message_has_signature", of: library)
        unsafe process = try Self.function("sd_bus_process", of: library)
        unsafe wait = try Self.function("sd_bus_wait", of: library)
        unsafe send = try Self.function("sd_bus_send", of: library)
    }

    private static func function<Function>(
        _ name: String,
        of library: SystemLibrary
    ) throws(BusError) -> Function {
        guard let function = unsafe library.function(name, as: Function.self) else {
            throw BusError(.libraryMissing, "The system's libsystemd has no \(name).")
        }
        return function
    }
}

/// `sd_bus_error`.
@unsafe struct BusCallError {
    var name: UnsafePointer<CChar>?
    var message: UnsafePointer<CChar>?
    var needsFree: CInt = 0
    /// The structure of C ends where the next could begin.
    var padding: CInt = 0
}
