// SPDX-License-Identifier: Apache-2.0
// modules: TagLink TagProducts NDEF CLinuxSupport CardCryptography TextSafety VirtualTags TagImages
import TagImages
import TagLink
import VirtualTags

/// Any file is read as an image of a tag or refused. A tag that is made from it answers frames, and its image stays the same
/// when it is written and read again.
@c(LLVMFuzzerTestOneInput)
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = unsafe [UInt8](UnsafeBufferPointer(start: start, count: count))
    guard var image = try? TagImage(parsing: bytes) else { return 0 }
    let tag = image.makeTag()
    exercise(tag)
    image.update(from: tag)
    // A format may not be able to hold the tag's content now. What it writes it can read.
    if let encoded = try? image.encoded() {
        guard let again = try? TagImage(parsing: encoded, as: image.format) else {
            fatalError("An image that was written can't be read: \(String(decoding: encoded, as: UTF8.self))")
        }
        guard (try? again.encoded()) == encoded else { fatalError("An image that was written is written otherwise.") }
    }
    // The length chooses one of the formats, so that runs stay short.
    let format = TagImage.Format.allCases[bytes.count % TagImage.Format.allCases.count]
    if let converted = try? TagImage(image.contents, format: format).encoded(),
        (try? TagImage(parsing: converted, as: format)) == nil
    {
        fatalError("An image that was converted can't be read.")
    }
    return 0
}

/// Activates the tag and gives it the commands that touch its memory.
private func exercise(_ tag: any VirtualTag) {
    func send(_ frame: Frame) -> Frame? { tag.answer(frame, injectedFault: nil)?.frame }
    _ = send(Frame(bits: [0x26], validBitsInLastByte: 7))
    for select: UInt8 in [0x93, 0x95, 0x97] {
        guard let part = send(Frame([select, 0x20], checksum: .none)) else { break }
        _ = send(Frame([select, 0x70] + part.bytes))
    }
    _ = send(Frame([0x60]))
    for page: UInt8 in [0, 2, 3, 4, 0x28, 0x82, 0xE2, 0xFF] {
        _ = send(Frame([0x30, page]))
        _ = send(Frame([0x3A, page, page &+ 60]))
        _ = send(Frame([0xA2, page, 0x03, 0x00, 0xFE, 0x00]))
    }
    tag.losePower()
}
