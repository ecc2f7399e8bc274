// SPDX-License-Identifier: Apache-2.0
import SystemLibrary

/// The functions of sd-bus for messages of any kind. As with ``LibSystemd``, any thread may use them.
@safe struct LibSystemdMessages: @unchecked Sendable {
    typealias Pointer = OpaquePointer
    typealias Text = UnsafePointer<CChar>
    typealias GetText = @convention(c) (Pointer?) -> Text?
    typealias PeekType =
        @convention(c) (Pointer?, UnsafeMutablePointer<CChar>?, UnsafeMutablePointer<Text?>?) -> CInt
    typealias Container = @convention(c) (Pointer?, CChar, Text?) -> CInt
    typealias Simple = @convention(c) (Pointer?) -> CInt
    typealias Number = @convention(c) (Pointer?, UnsafeMutablePointer<UInt64>?) -> CInt
    typealias Kind = @convention(c) (Pointer?, UnsafeMutablePointer<UInt8>?) -> CInt
    typealias NewError = @convention(c) (Pointer?, UnsafeMutablePointer<Pointer?>?, UnsafeRawPointer?) -> CInt

    typealias NewSignal = @convention(c) (Pointer?, UnsafeMutablePointer<Pointer?>?, Text?, Text?, Text?) -> CInt
    typealias GetError = @convention(c) (Pointer?) -> UnsafeRawPointer?

    let openSystem: LibSystemd.Open
    let descriptor: Simple
    let isReady: Simple
    let events: Simple
    let sender: GetText
    let path: GetText
    let interface: GetText
    let member: GetText
    let kind: Kind
    let replyCookie: Number
    let peekType: PeekType
    let enterContainer: Container
    let exitContainer: Simple
    let newError: NewError
    let newSignal: NewSignal
    let error: GetError

    static let shared: Result<LibSystemdMessages, BusError> = Result { () throws(BusError) in
        try LibSystemdMessages()
    }

    private init() throws(BusError) {
        guard let library = SystemLibrary("libsystemd.so.0") else {
            throw BusError(.libraryMissing, "libsystemd.so.0 is not installed.")
        }
        func function<Function>(_ name: String) throws(BusError) -> Function {
            guard let function = unsafe library.function("sd_bus_" + name, as: Function.self) else {
                throw BusError(.libraryMissing, "The system's libsystemd has no sd_bus_\(name).")
            }
            return function
        }
        unsafe openSystem = try function("open_system")
        unsafe descriptor = try function("get_fd")
        unsafe isReady = try function("is_ready")
        unsafe events = try function("get_events")
        unsafe sender = try function("message_get_sender")
        unsafe path = try function("message_get_path")
        unsafe interface = try function("message_get_interface")
        unsafe member = try function("message_get_member")
        unsafe kind = try function("message_get_type")
        unsafe replyCookie = try function("message_get_reply_cookie")
        unsafe peekType = try function("message_peek_type")
        unsafe enterContainer = try function("message_enter_container")
        unsafe exitContainer = try function("message_exit_container")
        unsafe newError = try function("message_new_method_error")
        unsafe newSignal = try function("message_new_signal")
        unsafe error = try function("message_get_error")
    }
}
