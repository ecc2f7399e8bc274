// SPDX-License-Identifier: Apache-2.0
import NDEF

/// Any bytes are read or refused. A message that was read can be written, and reads again as the same records.
@c(LLVMFuzzerTestOneInput)
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = unsafe [UInt8](UnsafeBufferPointer(start: start, count: count))
    guard let message = try? NDEFMessage(decoding: bytes) else { return 0 }
    for record in message.records {
        guard let content = try? record.content() else { continue }
        checkContent(content)
    }
    checkWriting(message)
    return 0
}

/// The written bytes have the predicted length, and read again as the same records, whole and in chunks.
private func checkWriting(_ message: NDEFMessage) {
    // A reserved format is kept. Every message that was read must be accepted.
    guard let encoded = try? message.encoded() else { fatalError("A message that was read can't be written.") }
    guard encoded.count == message.encodedLength else { fatalError("The length was foretold wrong.") }
    guard let again = try? NDEFMessage(decoding: encoded), again == message else {
        fatalError("A message that was written is read otherwise.")
    }
    guard let chunked = try? message.encoded(chunkSize: 7), let joined = try? NDEFMessage(decoding: chunked),
        joined == message, chunked.count == message.records.reduce(0, { $0 + $1.encodedLength(chunkSize: 7) })
    else { fatalError("A message in chunks is read otherwise.") }
}

/// A record's content makes a record with the same content.
private func checkContent(_ content: RecordContent) {
    guard let value = content.value, let record = try? value.makeRecord() else { return }
    guard let again = try? record.content() else { fatalError("A record that was made can't be read: \(content)") }
    guard again == content else { fatalError("A record that was made says \(again) instead of \(content)") }
}

extension RecordContent {
    /// The typed record, if records can be made from it.
    fileprivate var value: (any TypedRecord)? {
        switch self {
        case .uri(let value): value
        case .text(let value): value
        case .smartPoster(let value): value
        case .handover(let value): value
        case .handoverCarrier(let value): value
        case .bluetoothEasyPairing(let value): value
        case .bluetoothLowEnergy(let value): value
        case .wifi(let value): value
        case .signature(let value): value
        case .deviceInformation(let value): value
        default: nil
        }
    }
}
