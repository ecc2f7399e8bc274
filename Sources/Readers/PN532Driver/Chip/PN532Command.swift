// SPDX-License-Identifier: Apache-2.0

/// The commands that are sent to a PN532 (PN532 user manual, 7).
enum PN532Command: UInt8 {
    case getFirmwareVersion = 0x02
    case readRegister = 0x06
    case writeRegister = 0x08
    case setSerialBaudRate = 0x10
    case setParameters = 0x12
    case samConfiguration = 0x14
    case rfConfiguration = 0x32
    case inDataExchange = 0x40
    case inCommunicateThru = 0x42
    case inDeselect = 0x44
    case inListPassiveTarget = 0x4A
    case tgGetData = 0x86
    case tgInitAsTarget = 0x8C
    case tgSetData = 0x8E
    case tgSetMetaData = 0x94
}
