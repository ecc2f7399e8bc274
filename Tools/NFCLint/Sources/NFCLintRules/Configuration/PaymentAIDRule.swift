// SPDX-License-Identifier: Apache-2.0
import NFCLintEngine

extension Rule {
    static let paymentAID = Rule(
        id: "CFG022",
        severity: .warning,
        title: "The AID list contains payment applications",
        why: """
            If a reader session selects a payment application, iOS answers with code 2. Only \
            NFCPaymentTagReaderSession may select one.
            """,
        fix: "Remove payment AIDs, or use NFCPaymentTagReaderSession with its entitlement.",
        bad: [Example.identifiers("325041592E5359532E4444463031", "A0000000031010") + Example.tagReader],
        good: [Example.usageAndIdentifier + Example.tagReader],
        check: { unit, findings in
            guard !unit.sessions.creations.contains(where: { $0.kind == .payment }) else { return }
            unit.forEachInfo(Keys.identifiers) { list, _ in
                var providers: [String] = []
                var first: ConfigValue?
                for value in list.value.array ?? [] {
                    let text = value.string?.uppercased() ?? ""
                    guard let provider = payment.first(where: { text.hasPrefix($0.prefix) })?.name else { continue }
                    first = first ?? value
                    if !providers.contains(provider) { providers.append(provider) }
                }
                guard let first else { return }
                let names = providers.joined(separator: ", ")
                findings.add(
                    list.place(first),
                    "The list contains payment applications (\(names)), which a reader session may not select."
                )
            }
        }
    )
    private static let payment = [
        (prefix: "325041592E", name: "PPSE"), (prefix: "315041592E", name: "PSE"), (prefix: "A000000003", name: "Visa"),
        (prefix: "A000000004", name: "Mastercard"), (prefix: "A000000025", name: "American Express"),
        (prefix: "A000000065", name: "JCB"), (prefix: "A000000152", name: "Discover"),
        (prefix: "A000000324", name: "Discover"), (prefix: "A000000333", name: "UnionPay"),
        (prefix: "A000000277", name: "Interac"),
    ]
}
