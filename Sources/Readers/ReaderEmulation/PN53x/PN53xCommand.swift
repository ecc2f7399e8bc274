// SPDX-License-Identifier: Apache-2.0

/// The supported commands of a PN53x chip (PN532 user manual, 7).
enum PN53xCommand: UInt8 {
    case diagnose = 0x00
    case getFirmwareVersion = 0x02
    case getGeneralStatus = 0x04
    case readRegister = 0x06
    case writeRegister = 0x08
    case readGPIO = 0x0C
    case writeGPIO = 0x0E
    case setSerialBaudRate = 0x10
    case setParameters = 0x12
    case samConfiguration = 0x14
    case powerDown = 0x16
    case rfConfiguration = 0x32
    case inDataExchange = 0x40
    case inCommunicateThru = 0x42
    case inDeselect = 0x44
    case inJumpForPSL = 0x46
    case inListPassiveTarget = 0x4A
    case inPSL = 0x4E
    case inATR = 0x50
    case inRelease = 0x52
    case inSelect = 0x54
    case inJumpForDEP = 0x56
    case inAutoPoll = 0x60
    case tgGetData = 0x86
    case tgGetTargetStatus = 0x8A
    case tgInitAsTarget = 0x8C
    case tgSetData = 0x8E
    case tgSetMetaData = 0x94

    /// Whether the command makes a chip stop being a card: the host wants a reader, or no power.
    var endsTargetMode: Bool {
        switch self {
        case .inDataExchange, .inCommunicateThru, .inDeselect, .inJumpForPSL, .inListPassiveTarget, .inPSL, .inATR,
            .inRelease, .inSelect, .inJumpForDEP, .inAutoPoll, .powerDown, .rfConfiguration:
            true
        default: false
        }
    }

    /// The command's name in the manual.
    var name: String {
        switch self {
        case .diagnose: "Diagnose"
        case .getFirmwareVersion: "GetFirmwareVersion"
        case .getGeneralStatus: "GetGeneralStatus"
        case .readRegister: "ReadRegister"
        case .writeRegister: "WriteRegister"
        case .readGPIO: "ReadGPIO"
        case .writeGPIO: "WriteGPIO"
        case .setSerialBaudRate: "SetSerialBaudRate"
        case .setParameters: "SetParameters"
        case .samConfiguration: "SAMConfiguration"
        case .powerDown: "PowerDown"
        case .rfConfiguration: "RFConfiguration"
        case .inDataExchange: "InDataExchange"
        case .inCommunicateThru: "InCommunicateThru"
        case .inDeselect: "InDeselect"
        case .inJumpForPSL: "InJumpForPSL"
        case .inListPassiveTarget: "InListPassiveTarget"
        case .inPSL: "InPSL"
        case .inATR: "InATR"
        case .inRelease: "InRelease"
        case .inSelect: "InSelect"
        case .inJumpForDEP: "InJumpForDEP"
        case .inAutoPoll: "InAutoPoll"
        case .tgGetData: "TgGetData"
        case .tgGetTargetStatus: "TgGetTargetStatus"
        case .tgInitAsTarget: "TgInitAsTarget"
        case .tgSetData: "TgSetData"
        case .tgSetMetaData: "TgSetMetaData"
        }
    }
}
