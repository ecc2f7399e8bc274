// SPDX-License-Identifier: Apache-2.0
import TagLink
package import VirtualTags

/// A card that changes, for a stage and the test beside it.
package final class CardBox {
    package var card: any Card
    /// The power cut in all of the following commands.
    package var tear: TornWrite?
    package private(set) var last: CardAnswer?

    package init(_ card: any Card) { self.card = card }

    package func process(_ message: [UInt8]) -> [UInt8] {
        let answer = card.process(message, tear: tear)
        last = answer
        return answer.bytes
    }
}

extension Stage {
    /// A stage with a card: requests are its commands.
    ///
    /// `power` takes its power; `tear old`, `tear new` and `tear none` say what a power cut leaves of the following
    /// commands; `work` answers the milliseconds of the last command's write, or `no write`.
    package convenience init(_ box: CardBox, names: [String: String] = [:], verbs: [String: Verb] = [:]) {
        let own: [String: Verb] = [
            "power": { _ in
                box.card.losePower()
                return "ok"
            },
            "tear": {
                box.tear = $0 == "old" ? .old : $0 == "new" ? .new : nil
                return "ok"
            },
            "work": { _ in
                guard let last = box.last, last.isWrite else { return "no write" }
                return String(last.workTime.microseconds / 1000)
            },
        ]
        self.init(names: names, verbs: own.merging(verbs) { $1 }) { hexText(box.process(hex($0))) }
    }

    package convenience init(_ card: some Card, names: [String: String] = [:]) {
        self.init(CardBox(card), names: names)
    }
}
