// SPDX-License-Identifier: Apache-2.0
// modules: CLinuxSupport LinuxSupport NDEF TextSafety UniversalLinks BackgroundTagReading CSDBus UserBus
// support: BusMessageMaker
import CSDBus

@testable import UserBus

private let maker = BusMessageMaker()

/// The values of any message are read or refused, within the limits of depth and number.
///
/// Input: a length byte and the signature; then the values, and for each variant also its signature.
@c(LLVMFuzzerTestOneInput)
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = unsafe [UInt8](UnsafeBufferPointer(start: start, count: count))
    guard let message = unsafe maker.make(bytes) else { return 0 }
    defer { _ = unsafe ocn_bus_message_unref(message) }
    let reader = unsafe BusMessageReader(message: message)
    guard let values = reader.values() else { return 0 }
    for value in values {
        guard depth(value) <= 16 else { fatalError("Values deeper than their limit.") }
        _ = (value.text, value.integer, value.isTrue, value.members?.count)
    }
    return 0
}

private func depth(_ value: BusValue) -> Int {
    let inside = value.values ?? value.members.map { Array($0.values) } ?? []
    guard inside.count <= 4096 else { fatalError("More values than their limit.") }
    return 1 + (inside.map(depth).max() ?? 0)
}
