"""Words and characters of Chinese that are one token of cl100k_base, for an estimate of the tokens of a text. Pure.

A character of no word takes one token if it is frequent, and two or three otherwise.
"""

from __future__ import annotations

import re

_HAN = re.compile(r"[\u4e00-\u9fff]+")
# The longest first, as they are looked for.
_WORDS = (
    "生命周期函数 不能为空 删除成功 微软雅黑 生命周期 监听页面 自动生成 不存在 初始化 动生成 "
    "命周期 字符串 手机号 数据库 服务器 用户名 管理员 设计器 请输入 请选择 软雅黑 验证码 一个 "
    "一页 万元 上传 下午 下载 不能 中国 为空 事件 产品 亿元 今年 代码 以上 以下 价格 任务 "
    "位置 作者 使用 例如 保存 信息 修改 全部 公司 关闭 其中 其他 内容 函数 分享 分类 分钟 "
    "列表 创建 删除 功能 加载 北京 单位 参数 发布 发送 取消 可以 可能 同时 名称 周期 商品 "
    "图片 在线 地址 声明 处理 备注 大小 失败 如果 姓名 字段 字符 存在 宋体 完成 定义 审核 "
    "密码 对象 小时 属性 开始 异常 当前 成功 我们 我的 所有 手机 执行 报道 按钮 排序 描述 "
    "提交 提示 搜索 操作 支付 数字 数据 数组 数量 文件 文字 文章 新增 方式 方法 日期 时间 "
    "是否 显示 時間 更新 有效 服务 权限 条件 来源 查询 标题 格式 正在 正确 没有 注册 注意 "
    "测试 消息 添加 点击 無料 版本 状态 生成 用户 电话 登录 监听 相关 确定 确认 示例 移到 "
    "程序 管理 类型 系统 结束 结果 编号 编辑 网络 联系 自治 节点 若要 获取 表示 视频 記事 "
    "订单 记录 设置 设计 评论 详情 说明 请求 资源 路径 输入 输出 返回 进行 连接 退出 送料 "
    "选择 通过 邮箱 配置 重新 金额 链接 错误 长度 问题 隐藏 雅黑 需要 页面 项目 首页 验证 "
    "默认 "
)
_FREQUENT = frozenset(
    "一万三上下不与专业东两个中串为主么义之也书了事二于五些交产享京人亿今介从他付代以们件价任份企优会传但位体何余作"
    "你使例供価保信修倍值停像元先入全公共关其具内円册再写出击分列则初利别到制前力功加务动動包化北区十午华单南即历原"
    "去县参及友反发取变口只可台右号司合同名后向否含听启告员周命和品哈商問器四回因国图土在地场址型城基報場填增声处备"
    "复外多大天失头女好如始子字存学安宋完定实审客家容密对导将小少尔就局展山岁州工左已市布常平年并广序库应店度建开异"
    "式引张当录形影径待後得微心必志态思性总息您情意感成我或户所手打找技投报拉持指按换据排接推提播支收改放政效数整文"
    "料断新方族无日时明易星是時景更最月有服期木未本机权束条来板构析果查标样核格案检模次款止正此步歳段每比民気水求江"
    "汽没治法注活流海消清游源火点無然片版物特率环现球理生用由电男画界番登的监目直相省看県真知码确示社票私种科秒称移"
    "程稍税稿空立站章端笑符第等签简算管箱米类系素索约级线组经结给络统编网置美老考者而联能自至色节英藏行表装西要見见"
    "规视角解言計記話読计认议记论设证评试话询该详语误说请读调象责败账货购费资起超路身车转软载辑输达过运近还这进连述"
    "退送选通速造連道邮部都配释里重量金钟钮链销错键长開間関门闭问间队阳陆限院除雅集雷需非面音页项预频题额首验高黑"
)
_WORD = re.compile("|".join(_WORDS.split()))
_TOKENS_OF_OTHER = 2.2


# All bytes but the first ones of those that stand for a Chinese character in UTF-8.
_NOT_OF_HAN = bytes(byte for byte in range(256) if not 0xE4 <= byte <= 0xE9)


def may_hold_han(data: bytes) -> bool:
    """Return False for a text in UTF-8 that has no Chinese character, as most have none: this look costs little."""
    return bool(data.translate(None, _NOT_OF_HAN))


def split_han(text: str) -> tuple[str, float]:
    """Return a text without its Chinese characters, and the tokens of these."""
    total = 0.0
    for run in _HAN.findall(text):
        rest, n_words = _WORD.subn("", run)
        n_frequent = sum(char in _FREQUENT for char in rest)
        total += n_words + n_frequent + _TOKENS_OF_OTHER * (len(rest) - n_frequent)
    return _HAN.sub("\n", text), total
