// SPDX-License-Identifier: Apache-2.0
// modules: TagLink VirtualTags
import TagLink
import VirtualTags

/// Any file is read or refused; what is read makes a tag, is written as it was, and after a change is read again.
@c(LLVMFuzzerTestOneInput)
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = unsafe [UInt8](UnsafeBufferPointer(start: start, count: count))
    guard var image = try? TagImage(parsing: bytes) else { return 0 }
    guard image.encoded() == bytes else { fatalError("An image that was not changed is written otherwise.") }

    let tag = image.makeTag()
    activate(tag)
    for page in UInt8(0)...3 {
        _ = tag.answer(Frame([0x30, page &* 64 &+ UInt8(truncatingIfNeeded: count)]), disturbance: nil)
        _ = tag.answer(Frame([0xA2, page &+ 2] + bytes.suffix(4)), disturbance: nil)
        _ = tag.answer(Frame([0x3A, page, 0xE0]), disturbance: nil)
    }
    image.update(from: tag)
    guard let again = try? TagImage(parsing: image.encoded()),
        again.contents.memory.count <= image.contents.memory.count,
        again.contents.memory[...] == image.contents.memory.prefix(again.contents.memory.count)
    else { fatalError("A changed image is read otherwise.") }

    for format in TagImage.Format.allCases {
        let new = TagImage(image.contents, format: format)
        // A Flipper file has no room for what lies behind the lock page of NTAG I2C.
        let count = (image.contents.product.userPages.upperBound + 1) * 4
        guard let copy = try? TagImage(parsing: new.encoded()), copy.encoded() == new.encoded(),
            copy.contents.memory.prefix(count) == image.contents.memory.prefix(count)
        else { fatalError("A new image is read otherwise.") }
    }
    return 0
}

/// REQA, then SELECT of every cascade level.
private func activate(_ tag: any VirtualTag) {
    _ = tag.answer(Frame(bits: [0x26], validBitsInLastByte: 7), disturbance: nil)
    var rest = tag.identifier[...]
    for select in [0x93, 0x95, 0x97] as [UInt8] where !rest.isEmpty {
        let level = rest.count > 4 ? [0x88] + rest.prefix(3) : Array(rest)
        rest = rest.dropFirst(rest.count > 4 ? 3 : 4)
        _ = tag.answer(Frame([select, 0x70] + level + [level.reduce(0, ^)]), disturbance: nil)
    }
    guard tag.answer(Frame([0x30, 0x00]), disturbance: nil) != nil else { fatalError("The tag is not active.") }
}
