// SPDX-License-Identifier: Apache-2.0
// modules: TagLink TagProducts NDEF CLinuxSupport CardCryptography VirtualTags
import TagLink
import VirtualTags

private let products = TagProduct.all

/// A virtual tag of each product answers any frames or is silent, whenever it loses power. Its content can then be made into a
/// tag again.
///
/// Input: the first byte chooses the product. Each frame is a byte with its kind and length, followed by its bytes.
@c(LLVMFuzzerTestOneInput)
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = unsafe [UInt8](UnsafeBufferPointer(start: start, count: count))
    guard let first = bytes.first else { return 0 }
    let tag = products[Int(first) % products.count].blank().makeTag()
    activate(tag)
    var rest = bytes.dropFirst()
    var frames = 0
    while let kind = rest.popFirst(), frames < 64 {
        frames += 1
        if kind == 0xFF {
            tag.losePower()
            activate(tag)
            continue
        }
        let frame = Array(rest.prefix(Int(kind & 0x3F)))
        rest = rest.dropFirst(frame.count)
        switch kind >> 6 {
        case 0, 1: _ = tag.answer(Frame(frame), injectedFault: nil)
        case 2: _ = tag.answer(Frame(frame, checksum: .none), injectedFault: nil)
        default: _ = tag.answer(Frame(bits: frame, validBitsInLastByte: 7), injectedFault: nil)
        }
    }
    if let contents = TagContents(of: tag) { _ = contents.makeTag().identifier }
    return 0
}

/// Activates the tag, so that most frames reach its commands.
private func activate(_ tag: any VirtualTag) {
    func send(_ frame: Frame) -> Frame? { tag.answer(frame, injectedFault: nil)?.frame }
    guard tag.technology == .nfcA else { return }
    _ = send(Frame(bits: [0x26], validBitsInLastByte: 7))
    for select: UInt8 in [0x93, 0x95, 0x97] {
        guard let part = send(Frame([select, 0x20], checksum: .none)) else { break }
        _ = send(Frame([select, 0x70] + part.bytes))
    }
}
