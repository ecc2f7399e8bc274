// SPDX-License-Identifier: Apache-2.0
// modules: TagLink TagProducts NDEF CLinuxSupport CardCryptography VirtualTags
import TagLink
import VirtualTags

private let document: EMRTDContents? = {
    let zone = "P<UTOERIKSSON<<ANNA<MARIA<<<<<<<<<<<<<<<<<<<L898902C36UTO7408122F1204159ZE184226B<<<<<10"
    return try? EMRTDContents(MachineReadableZone(zone), signer: .test)
}()

/// A card answers any message of a reader with at least a status, and starts again after a loss of power.
///
/// Input: the first byte chooses the card. Each message is a length byte and its bytes; the length FF is a loss of power.
@c(LLVMFuzzerTestOneInput)
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = unsafe [UInt8](UnsafeBufferPointer(start: start, count: count))
    guard let first = bytes.first else { return 0 }
    switch first % 3 {
    case 0: talk(NTAG424Card(), bytes.dropFirst())
    case 1: talk(DESFireCard(DESFireContents()), bytes.dropFirst())
    default: if let document { talk(EMRTDCard(document), bytes.dropFirst()) }
    }
    return 0
}

private func talk(_ card: some Card, _ messages: ArraySlice<UInt8>) {
    var card = card
    var rest = messages
    var count = 0
    while let length = rest.popFirst(), count < 64 {
        count += 1
        if length == 0xFF {
            card.losePower()
            continue
        }
        let answer = card.process(Array(rest.prefix(Int(length))), tear: nil)
        guard !answer.bytes.isEmpty else { fatalError("A card without a status.") }
        rest = rest.dropFirst(Int(length))
    }
}
