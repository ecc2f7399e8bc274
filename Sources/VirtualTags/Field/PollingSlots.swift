// SPDX-License-Identifier: Apache-2.0
import TagLink

extension FieldAnswer {
    /// Adds an answer to NFC-F polling. The reader gets those of all slots in one frame, each beginning with its length
    /// octet; a slot in which several tags answered is lost (NFC Forum Digital 2.3, 8.7.2).
    mutating func add(_ frame: Frame, inSlot slot: Int) {
        slots.updateValue(slots.keys.contains(slot) ? nil : frame, forKey: slot)
        let heard = slots.sorted { $0.key < $1.key }.compactMap(\.value)
        guard let first = heard.first else {
            reply = .collision(CollisionPoint(bitIndex: 0, bits: []))
            return
        }
        let joined = Frame(heard.flatMap(\.bytes), checksum: first.checksum)
        reply = .frame(joined)
        longest = joined
    }
}
