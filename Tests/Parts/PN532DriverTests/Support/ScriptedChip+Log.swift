// SPDX-License-Identifier: Apache-2.0
import ChipTesting
import TagLink

@testable import PN532Driver

extension ScriptedChip {
    /// The commands of the host from one of them on: each its code and its data in hex.
    func log(from start: Int = 0) -> [String] {
        received.dropFirst(start).map { received in
            switch received {
            case .command(let code, let data): ([code].hexText() + " " + data.hexText()).trimmed
            case .acknowledge: "ACK"
            case .negativeAcknowledge: "NACK"
            }
        }
    }

    /// A driver's first commands. They wake and identify the chip, and disable its automatic commands.
    static let start = ["14 011400", "02", "12 00", "32 0400", "32 05010001"]
    /// A field that is turned off and on.
    static let restart = ["32 0100", "32 0101"]
}

extension String {
    fileprivate var trimmed: String { hasSuffix(" ") ? String(dropLast()) : self }
}

extension DiscoveredTag {
    /// The link of a tag that speaks in frames.
    var link: any SelfActivatingLink {
        get throws(LinkError) {
            guard case .frames(let link) = port else { throw LinkError(.unsupported, "no frames") }
            return link
        }
    }
}
