// SPDX-License-Identifier: Apache-2.0
#if canImport(PhoneScreens)
    import Foundation
    import PhoneScreens

    /// The app's screen on the phone of the simulator.
    final class Screens {
        private let reader = MessageReader()
        private var lines = ["Scan a card to see its message."]

        func run(on phone: SimulatedPhone) async {
            phone.show(screen)
            for await button in phone.presses {
                do {
                    if button == "scan" {
                        lines = try await reader.scan()
                    } else if let message = reader.message {
                        try await MessageWriter(message).write()
                    }
                } catch {
                    lines = [error.localizedDescription]
                }
                phone.show(screen)
            }
        }

        private var screen: PhoneScreen {
            var items = lines.map { PhoneScreen.Item.text($0) }
            items.append(.button("Scan", id: "scan"))
            if reader.message != nil { items.append(.button("Write to a Card", id: "write", style: .plain)) }
            return PhoneScreen(title: "Cards", items: items)
        }
    }
#endif
