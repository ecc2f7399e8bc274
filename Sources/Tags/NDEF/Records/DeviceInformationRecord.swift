// SPDX-License-Identifier: Apache-2.0

/// Information about the device that wrote the message. NFC Forum Device Information RTD 1.0.
public struct DeviceInformationRecord: PayloadRecord {
    static let kind = RecordKind.deviceInformation

    /// A data element: type and value.
    public struct Element: Sendable, Hashable {
        /// The element type: 0 vendor, 1 model, 2 name, 3 UUID, 4 firmware version.
        public var type: UInt8
        /// The value: UTF-8, except for the UUID.
        public var value: [UInt8]

        /// Creates an element.
        public init(type: UInt8, value: [UInt8]) {
            self.type = type
            self.value = value
        }
    }

    /// The elements in order.
    public var elements: [Element]

    /// Creates a record from elements.
    public init(elements: [Element]) { self.elements = elements }

    /// Creates a record with the two required elements.
    ///
    /// - Parameters:
    ///   - vendor: the vendor's name.
    ///   - model: the model's name.
    public init(vendor: String, model: String) {
        self.init(elements: [
            Element(type: 0, value: Array(vendor.utf8)), Element(type: 1, value: Array(model.utf8)),
        ])
    }

    init(_ payload: PayloadReader) throws(NDEFError) {
        var payload = payload
        elements = []
        guard !payload.isAtEnd else { throw NDEFError(.emptyPayload) }
        while let type = payload.nextByte() {
            guard let count = payload.nextByte(), let value = payload.nextBytes(Int(count)) else {
                throw NDEFError(.attributeOverrun)
            }
            elements.append(Element(type: type, value: value))
        }
        try requireNames()
    }

    /// Checks that vendor and model are present and not empty. Device Information RTD 1.0, 2.
    private func requireNames() throws(NDEFError) {
        for type: UInt8 in [0, 1] where !elements.contains(where: { $0.type == type && !$0.value.isEmpty }) {
            throw NDEFError(.missingElement)
        }
    }

    /// The vendor's name; nil when it is missing or isn't UTF-8.
    public var vendor: String? { text(0) }
    /// The model's name; nil when it is missing or isn't UTF-8.
    public var model: String? { text(1) }

    private func text(_ type: UInt8) -> String? {
        elements.first { $0.type == type }.flatMap { String(validating: $0.value, as: UTF8.self) }
    }

    public func makeRecord(identifier: [UInt8]) throws(NDEFError) -> NDEFRecord {
        try requireNames()
        guard elements.allSatisfy({ $0.value.count <= 0xFF }) else { throw NDEFError(.valueTooLong) }
        let payload = elements.flatMap { [$0.type, UInt8($0.value.count)] + $0.value }
        return .wellKnown("Di", identifier: identifier, payload: payload)
    }
}
