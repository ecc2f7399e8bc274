// SPDX-License-Identifier: Apache-2.0
import CMosquitto

extension MosquittoHandle {
    func setCallbacks() {
        unsafe mosquitto_connect_v5_callback_set(mosquitto, connectCallback)
        unsafe mosquitto_disconnect_v5_callback_set(mosquitto, disconnectCallback)
        unsafe mosquitto_publish_v5_callback_set(mosquitto, publishCallback)
        unsafe mosquitto_message_callback_set(mosquitto, messageCallback)
        unsafe mosquitto_subscribe_callback_set(mosquitto, subscribeCallback)
    }
}

// Functions instead of closures, so that they are not isolated to an actor.

private func owner(_ object: UnsafeMutableRawPointer?) -> MosquittoHandle? {
    unsafe object.map { unsafe Unmanaged<MosquittoHandle>.fromOpaque($0).takeUnretainedValue() }
}

private func connectCallback(
    _: OpaquePointer?,
    _ object: UnsafeMutableRawPointer?,
    _ code: Int32,
    _ flags: Int32,
    _: OpaquePointer?
) {
    guard let handle = unsafe owner(object) else { return }
    switch code {
    case 0: handle.report(.accepted(hasSession: flags & 1 == 1))
    case 1, 132: handle.report(.tooNew)
    case 4, 5, 134, 135:
        handle.report(
            .refused("The broker rejects the user, the password or the certificate. Check [login] and [tls].")
        )
    default:
        let text = code < 128 ? unsafe mosquitto_connack_string(code) : unsafe mosquitto_reason_string(code)
        handle.report(
            .refused("The broker refuses the connection: \(unsafe text.map { unsafe String(cString: $0) } ?? "")")
        )
    }
}

private func disconnectCallback(
    _: OpaquePointer?,
    _ object: UnsafeMutableRawPointer?,
    _ code: Int32,
    _: OpaquePointer?
) {
    guard code >= 128, let handle = unsafe owner(object) else { return }
    let text = unsafe String(cString: mosquitto_reason_string(code))
    handle.report(code == MQTT_RC_SESSION_TAKEN_OVER.rawValue ? .taken : .ended("The broker says: \(text)"))
}

private func publishCallback(
    _: OpaquePointer?,
    _ object: UnsafeMutableRawPointer?,
    _ id: Int32,
    _ code: Int32,
    _: OpaquePointer?
) {
    unsafe owner(object)?.published(id, code: code)
}

private func messageCallback(
    _: OpaquePointer?,
    _ object: UnsafeMutableRawPointer?,
    _ message: UnsafePointer<mosquitto_message>?
) {
    guard let handle = unsafe owner(object), let message = unsafe message?.pointee, let topic = unsafe message.topic
    else { return }
    let payload = unsafe Array(UnsafeRawBufferPointer(start: message.payload, count: Int(message.payloadlen)))
    let name = unsafe String(cString: topic)
    handle.report(.message(MQTTMessage(topic: name, payload: payload, isRetained: unsafe message.retain)))
}

private func subscribeCallback(
    _: OpaquePointer?,
    _ object: UnsafeMutableRawPointer?,
    _ id: Int32,
    _ count: Int32,
    _ granted: UnsafePointer<Int32>?
) {
    let answers = unsafe Array(UnsafeBufferPointer(start: granted, count: Int(count)))
    unsafe owner(object)?.subscribed(id, refused: answers.indices.filter { answers[$0] > 2 })
}
