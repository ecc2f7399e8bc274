// SPDX-License-Identifier: Apache-2.0
import Synchronization
import TagLink
import VirtualTags

/// A tag that answers everything with one answer.
final class Parrot: VirtualTag {
    let technology: Technology
    let identifier: [UInt8]
    private let said: TagAnswer?
    /// How often it lost its power.
    private let losses = Mutex(0)

    init(_ said: TagAnswer?, _ technology: Technology = .nfcA, identifier: [UInt8] = [1]) {
        self.said = said
        self.technology = technology
        self.identifier = identifier
    }

    convenience init(_ bytes: [UInt8], workTime: Airtime = .zero, slot: Int? = nil) {
        self.init(TagAnswer(Frame(bytes), workTime: workTime, slot: slot))
    }

    var powerLosses: Int { losses.withLock { $0 } }

    func answer(_ request: Frame, disturbance: Disturbance?) -> TagAnswer? { said }

    func losePower() { losses.withLock { $0 += 1 } }
}
